"""Imports for staff: their origin, and the button to take them back."""

from django.contrib import admin

from genie.accounts.task_admin import WorkOfTask
from genie.lib.staff_actions import Action
from leaderboard.imports.models import Import
from leaderboard.imports.services.take_back import take_back


def _take_back(row: Import, by: object, reason: str) -> None:
    # a copy of the row, because the history needs it after the deletion
    take_back(Import.objects.select_related("task").get(pk=row.pk))


@admin.register(Import)
class ImportAdmin(WorkOfTask):
    list_display = [
        "task",
        "layout",
        "source",
        "licence",
        "n_judgments",
        "workers",
        "imported_by",
        "created_at",
    ]
    list_filter = ["layout", ("task", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["task", "imported_by"]
    search_fields = ["source", "citation"]
    actions = [
        Action(
            "take_back_selected",
            "Take the selected imports back …",
            title="Take imports back",
            sentence=(
                "Their ratings and scores are deleted. Their task is deleted if it "
                "has no other import. The files themselves are not kept here."
            ),
            button="Take them back",
            permission="delete",
            danger=True,
            service=_take_back,
            history="Taken back. Reason: {reason}",
            done="Taken back: {n} of {n_all}.",
        )
    ]

    @admin.display(description="workers", ordering="n_workers")
    def workers(self, row: Import) -> int:
        return row.n_workers

    @admin.display(description="judgments")
    def n_judgments(self, row: Import) -> str:
        return f"{sum(row.roles.get(role, 0) for role in row.counted):,}"
