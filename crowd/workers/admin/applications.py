"""Applications for work: accepted or declined, many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin, messages
from django.http import HttpRequest

from crowd.workers.models.worker import Application
from crowd.workers.services import applications
from genie.lib.admin.questions import after_asking
from genie.lib.admin.rows import ReadOnlyAdmin, person

if TYPE_CHECKING:
    from django.db.models import QuerySet


@admin.register(Application)
class ApplicationAdmin(ReadOnlyAdmin):
    act_permission = "crowd.change_application"
    list_display = ["user", "state", "words", "created_at", "decided_at"]
    list_filter = ["state"]
    list_select_related = ["user"]
    search_fields = ["user__username", "words"]
    actions = ["accept_selected", "decline_selected"]

    @admin.action(description="Accept the selected …", permissions=["act"])
    @after_asking(
        "Accept applications",
        "They become workers and are told so, without your reason.",
        "Accept",
    )
    def accept_selected(
        self, request: HttpRequest, queryset: QuerySet[Application], reason: str
    ) -> None:
        self._decide(request, queryset, True, reason)

    @admin.action(description="Decline the selected …", permissions=["act"])
    @after_asking(
        "Decline applications",
        "They are told that there is no place for them, without your reason.",
        "Decline",
    )
    def decline_selected(
        self, request: HttpRequest, queryset: QuerySet[Application], reason: str
    ) -> None:
        self._decide(request, queryset, False, reason)

    def _decide(
        self,
        request: HttpRequest,
        queryset: QuerySet[Application],
        accept: bool,
        reason: str,
    ) -> None:
        rows = list(queryset.select_related("user"))
        n = applications.decide(rows, accept, person(request), reason)
        self.message_user(request, f"Changed {n}.", messages.SUCCESS)
