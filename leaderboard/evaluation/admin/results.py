from django.contrib import admin

from genie.accounts.task_admin import OfTask
from genie.lib.admin import ReadOnlyAdmin
from leaderboard.evaluation.models.human_evaluation import Score


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
