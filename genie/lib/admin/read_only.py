"""Admin pages that show rows and leave them as they are."""

from __future__ import annotations

from django.contrib.admin import TabularInline
from django.db.models import Model
from django.http import HttpRequest

from genie.lib.admin.lists import ListAdmin


class ReadOnlyAdmin(ListAdmin):
    """Lists and shows; what changes rows is an action, which calls a service."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False


class ReadOnlyInline(TabularInline):  # type: ignore[type-arg]
    """Lists rows on the page of what they belong to."""

    extra = 0
    can_delete = False

    def has_add_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False
