"""Imports for staff: their origin, and the button to take them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.http import HttpRequest

from genie.accounts.task_admin import WorkOfTask
from genie.lib.admin import after_asking
from genie.lib.errors import GenieError
from leaderboard.imports.models import Import
from leaderboard.imports.services.take_back import take_back

if TYPE_CHECKING:
    from django.db.models import QuerySet


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
    actions = ["take_back_selected"]

    def has_remove_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "remove")

    @admin.display(description="workers", ordering="n_workers")
    def workers(self, row: Import) -> int:
        return row.n_workers

    @admin.display(description="judgments")
    def n_judgments(self, row: Import) -> str:
        return f"{sum(row.roles.get(role, 0) for role in row.counted):,}"

    @admin.action(
        description="Take the selected imports back …", permissions=["remove"]
    )
    @after_asking(
        "Take imports back",
        "Their judgments and scores are deleted, and their task where nothing else was "
        "imported into it. The files themselves are not kept here.",
        "Take them back",
    )
    def take_back_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        def back(row: Import) -> bool:
            try:
                # a copy of the row, because the message needs it after the deletion
                take_back(Import.objects.select_related("task").get(pk=row.pk))
            except GenieError as error:
                self.message_user(request, error.message, messages.ERROR)
                return False
            return True

        self.act_on_rows(request, queryset, back, "Taken back", reason)
