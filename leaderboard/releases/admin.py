from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Count, Q
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from crowd.money.services.budgets import budget_left
from genie.accounts import reads
from genie.accounts.task_admin import EditedOfTask
from genie.lib.admin.plainly import plainly
from genie.lib.admin.reasons import AsksWhy
from leaderboard.evaluation.admin.draw_test import draw_for
from leaderboard.evaluation.selectors.progress import to_approve
from leaderboard.monitoring.admin import campaigns_page
from leaderboard.releases import queued
from leaderboard.releases.report_page import report_page
from leaderboard.tasks.models import Task, TaskRevision

if TYPE_CHECKING:
    from django.db.models import QuerySet

_EDITABLE = ["accepts_submissions", "hidden_references"]
_SHOWN = [
    "title",
    "slug",
    "kind",
    "n_instances",
    "sample_size",
    "left_in_budget",
    "licence",
    "homepage",
    "source_language",
    "target_language",
    "demo",
    "imported",
    "release_sha256",
    "release_files",
    "sample_seed",
    "config",
    "revisions",
    "created_at",
]


def _said(revision: TaskRevision) -> str:
    changes = [
        f"{key}: {Truncator(str(old)).chars(80)} → {Truncator(str(new)).chars(80)}"
        for key, (old, new) in revision.changes.items()
    ]
    return "; ".join(changes) or "loaded"


@admin.register(Task)
class TaskAdmin(EditedOfTask, AsksWhy):
    pool_paths = ("slug",)
    needs = {"draw": "crowd.add_qualificationtest"}
    change_form_template = "admin/leaderboard/task/change_form.html"
    list_display = [
        "title",
        "slug",
        "n_instances",
        "n_submissions",
        "n_waiting",
        "accepts_submissions",
        "hidden_references",
        "demo",
        "created_at",
    ]
    list_filter = [
        "kind",
        "demo",
        "imported",
        "accepts_submissions",
        "hidden_references",
    ]
    search_fields = ["title", "slug"]
    fields: ClassVar[Any] = [*_EDITABLE, *plainly(Task, _SHOWN)]
    actions = ["release_selected", "draw_test_selected"]

    @admin.action(description="Create a release of the data", permissions=["change"])
    def release_selected(
        self, request: HttpRequest, queryset: QuerySet[Task]
    ) -> HttpResponse:
        for task in queryset.order_by("slug"):
            self.log_change(
                request, task, f"Requested {queued.request(task, by=request.user.pk)}."
            )
        self.message_user(request, "The releases are being made.", messages.SUCCESS)
        return redirect("admin:leaderboard_release_changelist")

    def get_urls(self) -> list[URLPattern]:
        campaigns = path(
            "<int:pk>/campaigns/",
            self.admin_site.admin_view(self.campaigns_view),
            name="leaderboard_task_campaigns",
        )
        report = path(
            "<int:pk>/report/",
            self.admin_site.admin_view(self.report_view),
            name="leaderboard_task_report",
        )
        return [campaigns, report, *super().get_urls()]

    def report_view(self, request: HttpRequest, pk: int) -> HttpResponse | FileResponse:
        task = get_object_or_404(self.get_queryset(request), pk=pk)
        # as for a release, which the archive contains
        self.insist(request, "change", task)
        reads.record(request, task, reads.Way.ADMIN, task.slug)
        return report_page(self, request, task)

    def campaigns_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return campaigns_page(self, request, get_object_or_404(Task, pk=pk))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return plainly(Task, _SHOWN)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Task]:
        waiting = Q(submissions__in=to_approve())
        rows: QuerySet[Task] = super().get_queryset(request)
        return rows.annotate(
            # both counts over one join, so that neither multiplies the other
            n_handed_in=Count("submissions"),
            n_to_approve=Count("submissions", filter=waiting),
        )

    def has_draw_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "draw")

    @admin.action(
        description="Draw a qualification test for the selected tasks …",
        permissions=["draw"],
    )
    def draw_test_selected(
        self, request: HttpRequest, queryset: QuerySet[Task]
    ) -> HttpResponse | None:
        return draw_for(self, request, queryset)

    @admin.display(description="submissions", ordering="n_handed_in")
    def n_submissions(self, task: Any) -> int:
        n: int = task.n_handed_in
        return n

    @admin.display(description="to approve", ordering="n_to_approve")
    def n_waiting(self, task: Any) -> int:
        n: int = task.n_to_approve
        return n

    @admin.display(description="changes of task.toml")
    def revisions(self, task: Task) -> SafeString:
        rows = task.revisions.select_related("by")
        return format_html_join(
            "",
            "<p>{} {} {}: {}</p>",
            (
                (
                    row.number,
                    f"{row.created_at:%Y-%m-%d %H:%M}",
                    row.by or "",
                    _said(row),
                )
                for row in rows
            ),
        )

    @admin.display(description="left in budget")
    def left_in_budget(self, task: Task) -> str:
        return f"${budget_left(task.slug) / 100:,.2f}"
