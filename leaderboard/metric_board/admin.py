"""Metric runs and boards in the admin: progress, and why a metric is not computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, Q
from django.http import HttpRequest

from genie.accounts.task_admin import OfTask, WorkOfTask
from genie.lib.admin import ReadOnlyAdmin
from genie.lib.staff_actions import Action
from leaderboard.metric_board.models import MetricBoard, OutsideMetric
from leaderboard.metric_board.services import retry, withdraw
from leaderboard.metric_runs.models import MetricPiece, MetricResult, MetricRun
from leaderboard.metric_runs.services import resume, stop

if TYPE_CHECKING:
    from django.db.models import QuerySet

State = MetricPiece.State
_DECIDES = "leaderboard.change_submission"


@admin.register(MetricResult)
class MetricResultAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("submission__task__slug",)
    list_display = ["submission", "metric", "value", "signature", "computed_at"]
    list_filter = ["metric", "submission__task"]
    list_select_related = ["submission"]
    search_fields = ["submission__system_name", "signature"]
    ordering = ["-pk"]
    # thousands of numbers, which the submission's page shows better
    exclude = ["per_instance"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[MetricResult]:
        rows: QuerySet[MetricResult] = super().get_queryset(request)
        return rows.defer("per_instance")


@admin.register(MetricRun)
class MetricRunAdmin(WorkOfTask):
    list_display = ["metric", "task", "state", "progress", "n_failed", "reason"]
    list_filter = ["state", "metric", "task"]
    list_select_related = ["task"]
    search_fields = ["metric", "reason"]
    actions = [
        Action(
            "stop_selected",
            "Stop the selected …",
            title="Stop metric runs",
            sentence="The current batch is finished, and completed batches are kept.",
            button="Stop them",
            permission=_DECIDES,
            service=lambda run, by, reason: stop(run),
            history="Stopped. Reason: {reason}",
            done="Stopped: {n} of {n_all}.",
        ),
        Action(
            "resume_selected",
            "Resume the selected, including failed batches …",
            title="Resume metric runs",
            sentence="They continue where they stopped. Failed batches are tried again.",
            button="Resume",
            permission=_DECIDES,
            service=lambda run, by, reason: resume(run),
            history="Resumed. Reason: {reason}",
            done="Resumed: {n} of {n_all}.",
        ),
    ]
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


@admin.register(MetricBoard)
class MetricBoardAdmin(WorkOfTask):
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
    actions = [
        Action(
            "retry_selected",
            "Recompute the selected failed boards …",
            title="Recompute boards",
            sentence="Failed boards are queued again.",
            button="Queue them",
            permission=_DECIDES,
            service=lambda board, by, reason: retry(board),
            history="Queued again. Reason: {reason}",
            done="Queued again: {n} of {n_all}.",
        )
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[MetricBoard]:
        rows: QuerySet[MetricBoard] = super().get_queryset(request)
        # the list does not need the payload, which is the whole board
        return rows.defer("payload")


@admin.register(OutsideMetric)
class OutsideMetricAdmin(WorkOfTask):
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
    actions = [
        Action(
            "withdraw_selected",
            "Withdraw the selected metrics …",
            title="Withdraw metrics",
            sentence="They are removed from their boards. This cannot be undone.",
            button="Withdraw them",
            permission=_DECIDES,
            danger=True,
            service=lambda metric, by, reason: withdraw(metric),
            history="Withdrawn. Reason: {reason}",
            done="Withdrawn: {n} of {n_all}.",
        )
    ]
