from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.http import HttpRequest

from genie.accounts.task_admin import OfTask
from genie.lib.admin import PlainReadOnlyAdmin as ReadOnlyAdmin
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.metric_runs.models import MetricResult

if TYPE_CHECKING:
    from django.db.models import QuerySet


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


@admin.register(Score)
class ScoreAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("submission__task__slug",)
    list_display = [
        "submission",
        "criterion",
        "mean",
        "low",
        "high",
        "n",
        "n_workers",
        "created_at",
        "superseded_at",
    ]
    list_filter = [
        "criterion",
        "submission__task",
        ("superseded_at", admin.EmptyFieldListFilter),
    ]
    list_select_related = ["submission"]
    search_fields = ["submission__system_name", "signature"]
    ordering = ["-pk"]
