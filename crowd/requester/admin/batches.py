from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from crowd.requester.batches import post as batches
from crowd.requester.batches import review as batch_review
from crowd.requester.batches.forms import BatchForm, ReviewForm
from crowd.requester.batches.results import results_csv
from crowd.requester.models import Requester, RequesterBatch
from crowd.requester.protocol import clock
from crowd.requester.services import money
from crowd.requester.services.settle import settle
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin import ReadOnlyAdmin, note, person
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account


class AdminBatchForm(BatchForm):
    requester = forms.ModelChoiceField(Requester.objects.order_by("name"))
    field_order = ("requester",)


def _stop(batch: RequesterBatch, by: Account, reason: str) -> int:
    n = batches.stop(batch)
    note(by, batch, f"Stopped {n} HITs.", reason)
    return n


@admin.register(RequesterBatch)
class RequesterBatchAdmin(ReadOnlyAdmin):
    list_display = ["name", "requester", "created_at", "created_by", "n_hits", "n_answers", "results"]  # fmt: skip
    list_filter = ["requester"]
    list_select_related = ["requester", "created_by"]
    search_fields = ["name"]
    actions = [
        Action(
            "stop_selected",
            "Stop the selected batches …",
            title="Stop batches",
            sentence="Nobody can accept more of these HITs; open ones can be finished.",
            button="Stop",
            service=_stop,
            done="Stopped {n} HITs.",
        )
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_requesterbatch")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RequesterBatch]:
        rows: QuerySet[RequesterBatch] = super().get_queryset(request)
        sent = Q(hits__assignments__submitted_at__isnull=False)
        return rows.annotate(
            n_rows=Count("hits", distinct=True),
            n_work=Count("hits__assignments", filter=sent, distinct=True),
        )

    def get_urls(self) -> list[URLPattern]:
        results = self.admin_site.admin_view(self.results_view)
        reviews = self.admin_site.admin_view(self.review_view)
        name = "crowd_requesterbatch"
        return [
            path("<int:pk>/results.csv", results, name=f"{name}_results"),
            path("<int:pk>/review/", reviews, name=f"{name}_review"),
            *super().get_urls(),
        ]

    @admin.display(description="HITs")
    def n_hits(self, batch: RequesterBatch) -> int:
        count: int = batch.n_rows  # type: ignore[attr-defined]
        return count

    @admin.display(description="answers")
    def n_answers(self, batch: RequesterBatch) -> int:
        count: int = batch.n_work  # type: ignore[attr-defined]
        return count

    @admin.display(description="results")
    def results(self, batch: RequesterBatch) -> SafeString:
        results, review_ = (
            reverse(f"admin:crowd_requesterbatch_{name}", args=[batch.pk])
            for name in ("results", "review")
        )
        links = '<a href="{}">CSV</a> · <a href="{}">Review</a>'
        return format_html(links, results, review_)

    def review_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return review(self, request, pk)

    def results_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        batch = self.get_object(request, str(pk))
        if not self.has_view_permission(request, batch):
            raise PermissionDenied
        if batch is None:
            return redirect("admin:crowd_requesterbatch_changelist")
        text = results_csv(batch, clock.now())
        response = HttpResponse(text, content_type="text/csv; charset=utf-8")
        name = f"batch-{batch.pk}-results.csv"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        posted = request.method == "POST"
        form = (
            AdminBatchForm(request.POST, request.FILES) if posted else AdminBatchForm()
        )
        draft = None
        if form.is_bound and form.is_valid():
            try:
                draft = form.draft()
                if "confirmed" in request.POST:
                    return self._post(request, form, draft)
            except GenieError as error:
                form.add_error(None, error.message)
                draft = None
        return self._confirmation(request, form, draft)

    def _post(
        self, request: HttpRequest, form: AdminBatchForm, draft: batches.Draft
    ) -> HttpResponse:
        cleaned = form.cleaned_data
        batch = batches.post(
            cleaned["requester"], cleaned["name"], form.terms(), draft, person(request)
        )
        cost = dollars(draft.cost_cents)
        note(person(request), batch, f"Posted {len(draft.questions)} HITs for {cost}.")
        sentence = f"Posted {len(draft.questions)} HITs, which cost at most {cost}."
        self.message_user(request, sentence, messages.SUCCESS)
        return redirect("admin:crowd_requesterbatch_changelist")

    def _confirmation(
        self, request: HttpRequest, form: AdminBatchForm, draft: batches.Draft | None
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Post a table as HITs",
            "form": form,
            "made": draft,
            "media": self.media,
        }
        if draft is not None:
            requester = form.cleaned_data["requester"]
            settle(requester, clock.now())
            left = money.account(requester).available
            hidden = {name: form.cleaned_data[name] for name in ("page", "table")}
            context |= {
                "left": left,
                "hidden": hidden,
                "short": left < draft.cost_cents,
            }
        page = "admin/crowd/requesterbatch/add.html"
        return TemplateResponse(request, page, context, status=200)


def review(model_admin: Any, request: HttpRequest, pk: int) -> HttpResponse:
    batch = RequesterBatch.objects.filter(pk=pk).select_related("requester").first()
    if not model_admin.may(request, "change"):
        raise PermissionDenied
    if batch is None:
        raise Http404("There is no such batch.")
    form = ReviewForm(request.POST or None, request.FILES or None)
    if form.is_bound and form.is_valid():
        try:
            done = batch_review.apply(
                batch, batch_review.read_reviews(form.cleaned_data["table_file"])
            )
        except GenieError as error:
            form.add_error("table_file", error.message)
        else:
            sentence = (
                f"Approved {done.n_approved}, rejected {done.n_rejected}; "
                f"{done.n_before} already had the same decision."
            )
            note(person(request), batch, sentence)
            messages.success(request, sentence)
            return redirect("admin:crowd_requesterbatch_changelist")
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": f"Review {batch.name}",
        "form": form,
        "made": None,
        "button": "Submit decisions",
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/crowd/requesterbatch/add.html", context)
