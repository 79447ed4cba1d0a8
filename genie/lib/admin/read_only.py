from typing import Any

from django.contrib.admin import TabularInline
from django.db.models import Model
from django.http import HttpRequest

from genie.lib.admin.lists import ListAdmin
from genie.lib.admin.plainly import plainly


class ReadOnlyAdmin(ListAdmin):
    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        # Django leaves these out of the writable fields only.
        left_out = {*(self.get_exclude(request, obj) or ())}
        names: list[Any] = [*super().get_fields(request, obj)]
        names = [one for one in names if getattr(one, "__name__", one) not in left_out]
        # Django adds read-only fields to those of the row; each should appear once.
        return list(dict.fromkeys(plainly(self.model, names)))

    def get_readonly_fields(
        self, request: HttpRequest, obj: Model | None = None
    ) -> Any:
        names = [field.name for field in self.opts.fields]
        written = [one for one in plainly(self.model, names) if callable(one)]
        return [*super().get_readonly_fields(request, obj), *written]

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
