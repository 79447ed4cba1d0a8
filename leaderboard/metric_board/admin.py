"""Metric runs and boards in the admin: progress, and why a metric is not computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, Q
from django.http import HttpRequest

from genie.accounts.task_admin import WorkOfTask
from genie.lib.admin import after_asking
from leaderboard.metric_board.models import MetricBoard, OutsideMetric
from leaderboard.metric_board.services import retry, withdraw
from leaderboard.metric_runs.models import MetricPiece, MetricRun
from leaderboard.metric_runs.services import resume, stop

if TYPE_CHECKING:
    from django.db.models import QuerySet

State = MetricPiece.State
_NEEDS = {"decide": "leaderboard.change_submission"}


@admin.register(MetricRun)
class MetricRunAdmin(WorkOfTask):
    needs = _NEEDS
    list_display = ["metric", "task", "state", "progress", "n_failed", "reason"]
    list_filter = ["state", "metric", "task"]
    list_select_related = ["task"]
    search_fields = ["metric", "reason"]
    actions = ["stop_selected", "resume_selected"]
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[MetricRun]:
        rows: QuerySet[MetricRun] = super().get_queryset(request)
        return rows.annotate(
            n_pieces=Count("pieces"),
            n_done=Count("pieces", filter=Q(pieces__state=State.DONE)),
            n_wrong=Count("pieces", filter=Q(pieces__state=State.FAILED)),
        )

    @admin.display(description="pieces")
    def progress(self, run: Any) -> str:
        return f"{run.n_done:,} of {run.n_pieces:,}" if run.n_pieces else "–"

    @admin.display(description="failed", ordering="n_wrong")
    def n_failed(self, run: Any) -> int:
        n: int = run.n_wrong
        return n

    @admin.action(description="Stop the selected …", permissions=["decide"])
    @after_asking(
        "Stop metric runs",
        "The batch being computed finishes; completed batches are kept.",
        "Stop them",
    )
    def stop_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        self.act_on_rows(request, queryset, stop, "Stopped", reason)

    @admin.action(
        description="Resume the selected, including failed batches …",
        permissions=["decide"],
    )
    @after_asking(
        "Resume metric runs",
        "They continue where they stopped; failed batches are tried again.",
        "Resume",
    )
    def resume_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        self.act_on_rows(request, queryset, resume, "Resumed", reason)


@admin.register(MetricBoard)
class MetricBoardAdmin(WorkOfTask):
    needs = _NEEDS
    list_display = [
        "task",
        "criterion",
        "state",
        "n_systems",
        "simulated",
        "seconds",
        "computed_at",
        "failure",
    ]
    list_filter = ["state", "task", "criterion", "simulated"]
    list_select_related = ["task"]
    exclude = ["payload"]
    actions = ["retry_selected"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[MetricBoard]:
        rows: QuerySet[MetricBoard] = super().get_queryset(request)
        # the list does not need the payload, which is the whole board
        return rows.defer("payload")

    @admin.action(
        description="Recompute the selected failed boards …", permissions=["decide"]
    )
    @after_asking("Recompute boards", "Failed boards are queued again.", "Queue them")
    def retry_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        self.act_on_rows(request, queryset, retry, "Queued again", reason)


@admin.register(OutsideMetric)
class OutsideMetricAdmin(WorkOfTask):
    needs = _NEEDS
    list_display = [
        "name",
        "task",
        "owner",
        "file_format",
        "created_at",
        "published_at",
        "withdrawn_at",
    ]
    list_filter = ["task", ("withdrawn_at", admin.EmptyFieldListFilter)]
    list_select_related = ["task", "owner"]
    search_fields = ["name", "owner__username"]
    actions = ["withdraw_selected"]

    @admin.action(description="Withdraw the selected metrics …", permissions=["decide"])
    @after_asking(
        "Withdraw metrics",
        "They are removed from their boards. This cannot be undone.",
        "Withdraw them",
    )
    def withdraw_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        self.act_on_rows(request, queryset, withdraw, "Withdrawn", reason)
