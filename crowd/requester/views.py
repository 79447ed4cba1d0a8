from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crowd.requester import selectors
from crowd.requester.batches import post as posting
from crowd.requester.batches.forms import BatchForm, ReviewForm
from crowd.requester.batches.post import State, apply_reviews, read_reviews
from crowd.requester.batches.results import results_csv
from crowd.requester.models import (
    AccessKey,
    Requester,
    RequesterBatch,
    RequesterEntry,
    RequesterLayout,
)
from crowd.requester.protocol import clock
from crowd.requester.questions.template import as_question, fields_of
from crowd.requester.selectors import batches_of, newest_batches, open_to
from crowd.requester.services import access_keys, money
from crowd.requester.services.settle import settle
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.serving.pages import file_named, post_or
from genie.lib.typing import Account

View = Callable[..., HttpResponse]


def for_requesters(view: View) -> View:
    @never_cache
    @login_required
    @wraps(view)
    def wrapper(
        request: HttpRequest, customer_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        mine = open_to(cast("Account", request.user))
        requester = mine.filter(customer_id=customer_id).first()
        if requester is None:
            raise Http404("There is no such requester.")
        settle(requester, clock.now())
        return view(request, requester, *args, **kwargs)

    return wrapper


def page(
    request: HttpRequest,
    requester: Requester,
    tab: str,
    status: int | None = None,
    **more: Any,
) -> HttpResponse:
    context = {"requester": requester, "tab": tab, **more}
    return render(request, f"requester/{tab}.html", context, status=status)


# The secret stays in the session until the next page has shown it, once.
_NEW = "new-requester-key"
ENTRIES = 50


class KeyForm(forms.Form):
    note = forms.CharField(
        label="Purpose",
        max_length=200,
        help_text="For example, the program that signs with it.",
    )


@never_cache
@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    mine = selectors.open_to(cast("Account", request.user))
    if len(mine) == 1:
        return redirect("requester:desk", mine[0].customer_id)
    return render(request, "requester/home.html", {"requesters": mine})


@for_requesters
def desk(request: HttpRequest, requester: Requester) -> HttpResponse:
    form = KeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        user = cast("Account", request.user)
        key, secret = access_keys.create_key(requester, user, form.cleaned_data["note"])
        request.session[_NEW] = {"id": key.key_id, "secret": secret}
        return redirect("requester:desk", requester.customer_id)
    new = None
    keys = AccessKey.objects.filter(requester=requester, revoked_at=None)
    waiting = request.session.get(_NEW)
    if waiting and keys.filter(key_id=waiting["id"]).exists():
        new = request.session.pop(_NEW)
    entries = RequesterEntry.objects.filter(requester=requester).order_by("-pk")
    return page(
        request,
        requester,
        "desk",
        400 if form.errors else None,
        form=form,
        keys=keys.select_related("created_by"),
        new=new,
        account=money.account(requester),
        spent=selectors.spent(requester),
        work=selectors.work_of(requester, clock.now()),
        entries=entries[:ENTRIES],
        endpoint=request.build_absolute_uri(reverse("turk:endpoint")),
    )


@post_or("requester:desk", "customer_id")
@for_requesters
def revoke(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    key = get_object_or_404(AccessKey, pk=pk, requester=requester)
    access_keys.revoke_key(key, cast("Account", request.user), "by the requester")
    messages.success(
        request, f"{key.key_id} is revoked and can no longer sign requests."
    )
    return redirect("requester:desk", requester.customer_id)


@for_requesters
def batches(request: HttpRequest, requester: Requester) -> HttpResponse:
    posted = request.method == "POST"
    form = BatchForm(request.POST, request.FILES) if posted else BatchForm()
    draft = None
    if form.is_bound and form.is_valid():
        try:
            draft = form.draft()
            if "confirmed" in request.POST:
                return _post(request, requester, form, draft)
        except GenieError as error:
            form.add_error(None, error.message)
            draft = None
    left = money.account(requester).available
    more: dict[str, Any] = {
        "batches": newest_batches(requester, request.GET.get("page")),
        "form": form,
        "left": left,
    }
    if draft is not None:
        hidden = {name: form.cleaned_data[name] for name in ("page", "table")}
        more |= {"made": draft, "hidden": hidden, "short": left < draft.cost_cents}
    return page(request, requester, "batches", 400 if form.errors else None, **more)


@for_requesters
def batch(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    one = get_object_or_404(batches_of(requester), pk=pk)
    form = ReviewForm(request.POST or None, request.FILES or None)
    if form.is_bound and form.is_valid():
        try:
            done = apply_reviews(one, read_reviews(form.cleaned_data["table_file"]))
        except GenieError as error:
            form.add_error("table_file", error.message)
        else:
            sentence = (
                f"Approved {done[State.APPROVED]}, rejected {done[State.REJECTED]}; "
                f"{done[State.SUBMITTED]} already had the same decision."
            )
            note(cast("Account", request.user), one, sentence)
            messages.success(request, sentence)
            return redirect("requester:batch", requester.customer_id, pk)
    status = 400 if form.errors else None
    return page(request, requester, "batch", status, batch=one, form=form)


@require_safe
@for_requesters
def results(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    one = get_object_or_404(RequesterBatch, pk=pk, requester=requester)
    text = results_csv(one, clock.now())
    return file_named(f"batch-{one.pk}-results.csv", text, "text/csv; charset=utf-8")


@post_or("requester:batch", "customer_id", "pk")
@for_requesters
def stop(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    one = get_object_or_404(RequesterBatch, pk=pk, requester=requester)
    n = posting.stop(one)
    note(cast("Account", request.user), one, f"Stopped {n} HITs.", "by the requester")
    messages.success(request, "Stopped. Workers cannot accept more of these HITs.")
    return redirect("requester:batch", requester.customer_id, pk)


def _post(
    request: HttpRequest, requester: Requester, form: BatchForm, draft: posting.Draft
) -> HttpResponse:
    user = cast("Account", request.user)
    one = posting.post(requester, form.cleaned_data["name"], draft, user)
    n, cost = len(draft.questions), dollars(draft.cost_cents)
    note(user, one, f"Posted {n} HITs for {cost}.")
    messages.success(request, f"Posted {n} HITs, which cost at most {cost}.")
    return redirect("requester:batch", requester.customer_id, one.pk)


class LayoutForm(forms.Form):
    name = forms.CharField(max_length=100)
    page = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false"}),
        strip=False,
        help_text="HTML, with ${name} where a value goes. A fragment gets a form and a "
        "button. A whole page is shown unchanged and needs its own form.",
    )

    def clean_page(self) -> str:
        text: str = self.cleaned_data["page"].replace("\r\n", "\n")
        try:
            as_question(text)
        except GenieError as error:
            raise forms.ValidationError(error.message) from None
        return text


@for_requesters
def layouts(request: HttpRequest, requester: Requester) -> HttpResponse:
    form = LayoutForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = RequesterLayout.objects.create(requester=requester, **form.cleaned_data)
        messages.success(request, f"Added. Its HITLayoutId is {made.entity_id}.")
        return redirect("requester:layouts", requester.customer_id)
    rows = RequesterLayout.objects.filter(requester=requester, retired_at=None)
    return page(
        request,
        requester,
        "layouts",
        400 if form.errors else None,
        form=form,
        layouts=[(row, fields_of(row.page)) for row in rows],
    )


@post_or("requester:layouts", "customer_id")
@for_requesters
def retire(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    row = get_object_or_404(RequesterLayout, pk=pk, requester=requester)
    row.retired_at = row.retired_at or timezone.now()
    row.save(update_fields=["retired_at"])
    messages.success(request, f"No new HITs are made of {row.name}.")
    return redirect("requester:layouts", requester.customer_id)
