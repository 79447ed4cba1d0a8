"""Submissions: the list, one submission's story, and what staff may do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, re_path, reverse

from genie.lib.read_only_admin import ReadOnlyAdmin, ReadOnlyInline
from leaderboard.admin import bulk
from leaderboard.admin.approve_page import approve_page
from leaderboard.admin.campaign_links import links_to_campaigns
from leaderboard.admin.filters import HasFailed, HasWarnings
from leaderboard.admin.money import dollars
from leaderboard.models import Submission, SubmissionEvent
from leaderboard.services import approve

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.urls import URLPattern

State = Submission.State
_AT_MOST = 120
_STORY: list[Any] = ["at", "state", "sentence", "actor"]


class EventInline(ReadOnlyInline):
    model = SubmissionEvent
    fields = _STORY
    readonly_fields = _STORY
    verbose_name_plural = "story"

    def get_queryset(self, request: HttpRequest) -> QuerySet[SubmissionEvent]:
        rows: QuerySet[SubmissionEvent] = super().get_queryset(request)
        return rows.select_related("actor")


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = [
        "system_name",
        "task",
        "team",
        "state",
        "cost",
        "n_warnings",
        "last_error",
        "received_at",
    ]
    list_filter = [
        "state",
        HasFailed,
        HasWarnings,
        "visibility",
        "simulated",
        "task",
        "created_at",
    ]
    list_select_related = ["task", "team"]
    search_fields = ["system_name", "team__name", "owner__username", "file_sha256"]
    ordering = ["-pk"]
    inlines = [EventInline]
    readonly_fields = ["campaigns"]
    exclude = ["file"]  # never served by its address; its name and hash stand here
    change_form_template = "admin/leaderboard/submission/change_form.html"
    actions = [
        "approve_selected",
        "decline_selected",
        "retry_selected",
        "publish_partial_selected",
        "withdraw_selected",
    ]
    approve_selected = bulk.approve_selected
    decline_selected = bulk.decline_selected
    retry_selected = bulk.retry_selected
    publish_partial_selected = bulk.publish_partial_selected
    withdraw_selected = bulk.withdraw_selected

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Tell who may spend: the permission to change submissions."""
        return request.user.has_perm("leaderboard.change_submission")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path(
                "<int:pk>/approve/",
                view(self.approve_view),
                name="leaderboard_submission_approve",
            ),
            re_path(
                r"^(?P<pk>\d{1,18})/(?P<verb>decline|retry|publish-partial|withdraw)/$",
                view(self.do_view),
                name="leaderboard_submission_do",
            ),
        ]
        return [*own, *super().get_urls()]

    def approve_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return approve_page(self, request, self._one(request, pk))

    def do_view(self, request: HttpRequest, pk: str, verb: str) -> HttpResponse:
        """Do with one submission what the list does with many."""
        acts = {
            "decline": self.decline_selected,
            "retry": self.retry_selected,
            "publish-partial": self.publish_partial_selected,
            "withdraw": self.withdraw_selected,
        }
        one = self._one(request, int(pk))
        answer: HttpResponse | None = acts[verb](
            request, Submission.objects.filter(pk=one.pk)
        )
        return answer or redirect(
            reverse("admin:leaderboard_submission_change", args=[one.pk])
        )

    def _one(self, request: HttpRequest, pk: int) -> Submission:
        if not self.has_decide_permission(request):
            raise PermissionDenied
        found = Submission.objects.select_related("task", "team", "owner").filter(pk=pk)
        submission = found.first()
        if submission is None:
            raise Http404
        return submission

    @admin.display(description="campaigns")
    def campaigns(self, submission: Submission) -> str:
        return links_to_campaigns(getattr(submission, "human_evaluation", None))

    @admin.display(description="cost")
    def cost(self, submission: Submission) -> str:
        if submission.approved_cents is not None:
            return f"{dollars(submission.approved_cents)} approved"
        if submission.state != State.MEASURED:
            return ""
        return f"{dollars(approve.quote(submission).total_cents)} if approved"

    @admin.display(description="received", ordering="created_at")
    def received_at(self, submission: Submission) -> str:
        return f"{submission.created_at:%Y-%m-%d %H:%M}"

    @admin.display(description="warnings")
    def n_warnings(self, submission: Submission) -> int:
        return len(submission.warnings)

    @admin.display(description="last error")
    def last_error(self, submission: Submission) -> str:
        text = submission.failure
        if not text and submission.errors:
            text = str(submission.errors[0].get("message", ""))
        return text if len(text) <= _AT_MOST else text[: _AT_MOST - 1] + "…"
