"""An admin page that shows rows and leaves them as they are."""

from __future__ import annotations

from django.contrib.admin import ModelAdmin
from django.db.models import Model
from django.http import HttpRequest


class ReadOnly(ModelAdmin):  # type: ignore[type-arg]
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
