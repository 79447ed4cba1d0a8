"""Tables that a requester posts as HITs, and what came of them."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from crowd.requester.batches import post as posting
from crowd.requester.batches import review
from crowd.requester.batches.forms import BatchForm, ReviewForm
from crowd.requester.batches.results import results_csv
from crowd.requester.models.account import Requester
from crowd.requester.models.records import RequesterBatch
from crowd.requester.protocol import clock
from crowd.requester.selectors.desk import batches_of, newest_batches
from crowd.requester.services import money
from crowd.requester.services.settle import settle
from crowd.requester.views.access import for_requesters, page
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin.log import note
from genie.lib.errors import GenieError
from genie.lib.serving.post_only import post_or
from genie.lib.typing import Account


@for_requesters
def batches(request: HttpRequest, requester: Requester) -> HttpResponse:
    """List batches; check a new one and show what it costs; post it once confirmed."""
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
    settle(requester, clock.now())
    left = money.account(requester).available
    more: dict[str, Any] = {
        "batches": newest_batches(requester, request.GET.get("page")),
        "form": form,
        "left": left,
    }
    if draft is not None:
        hidden = {name: form.cleaned_data[name] for name in ("page", "table")}
        more |= {"made": draft, "hidden": hidden, "short": left < draft.cost_cents}
    return page(request, requester, "batches", 400 if form.errors else 200, **more)


@for_requesters
def batch(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    """Show what came of a batch; take the table of results back with decisions."""
    settle(requester, clock.now())
    one = get_object_or_404(batches_of(requester), pk=pk)
    form = ReviewForm(request.POST or None, request.FILES or None)
    if form.is_bound and form.is_valid():
        try:
            reviews = review.read_reviews(form.cleaned_data["table_file"])
            done = review.apply(one, reviews)
        except GenieError as error:
            form.add_error("table_file", error.message)
        else:
            sentence = (
                f"Approved {done.n_approved}, rejected {done.n_rejected}; "
                f"{done.n_before} already had the same decision."
            )
            note(cast("Account", request.user), one, sentence)
            messages.success(request, sentence)
            return redirect("requester:batch", requester.customer_id, pk)
    status = 400 if form.errors else 200
    return page(request, requester, "batch", status, batch=one, form=form)


@require_safe
@for_requesters
def results(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    """Give the table of what came of a batch."""
    settle(requester, clock.now())
    one = get_object_or_404(RequesterBatch, pk=pk, requester=requester)
    response = HttpResponse(
        results_csv(one, clock.now()), content_type="text/csv; charset=utf-8"
    )
    name = f"batch-{one.pk}-results.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@post_or("requester:batch", "customer_id", "pk")
@for_requesters
def stop(request: HttpRequest, requester: Requester, pk: int) -> HttpResponse:
    """Let nobody begin any more of a batch."""
    one = get_object_or_404(RequesterBatch, pk=pk, requester=requester)
    n = posting.stop(one)
    note(cast("Account", request.user), one, f"Stopped {n} HITs.", "by the requester")
    messages.success(request, "Stopped: nobody can begin any more of these HITs.")
    return redirect("requester:batch", requester.customer_id, pk)


def _post(
    request: HttpRequest, requester: Requester, form: BatchForm, draft: posting.Draft
) -> HttpResponse:
    user = cast("Account", request.user)
    name = form.cleaned_data["name"]
    one = posting.post(requester, name, form.terms(), draft, user)
    n, cost = len(draft.questions), dollars(draft.cost_cents)
    note(user, one, f"Posted {n} HITs for {cost}.")
    messages.success(request, f"Posted {n} HITs, which cost at most {cost}.")
    return redirect("requester:batch", requester.customer_id, one.pk)
