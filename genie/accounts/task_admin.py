"""Admin lists of rows that belong to tasks: a role on one task opens its rows.

Admin pages that do not use these classes stay closed to people with roles on tasks
only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import messages
from django.contrib.admin import RelatedOnlyFieldListFilter
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

from genie.accounts import reads
from genie.accounts.staff import (
    of_pools,
    open_to,
    pools_where,
    staff_may,
    staff_may_somewhere,
)
from genie.lib.admin import ListAdmin, ReadOnlyAdmin

if TYPE_CHECKING:
    from django.db.models import QuerySet


BY_TASK = ("pool", RelatedOnlyFieldListFilter)


class OfTask(ListAdmin):
    # from a row to the slug of its task; the first that is not empty counts
    pool_paths: ClassVar[tuple[str, ...]] = ("pool_id",)
    # whether pages may show private outputs, so that opening one is recorded
    shows_outputs: ClassVar[bool] = False

    def may(self, request: HttpRequest, verb: str, row: Model | None = None) -> bool:
        permission = self.permission_to(verb)
        if row is None:
            return staff_may_somewhere(request.user, permission)
        return staff_may(request.user, permission, self.pool_of(row))

    def insist(self, request: HttpRequest, verb: str, row: Model) -> None:
        if not self.may(request, verb, row):
            raise PermissionDenied

    def pool_of(self, row: Model) -> str | None:
        for path in self.pool_paths:
            found: Any = row
            for part in path.split("__"):
                found = getattr(found, part, None)
            if found:
                return str(found)
        return None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows, pools = super().get_queryset(request), self.pools_seen(request)
        return rows if pools is None else rows.filter(of_pools(pools, self.pool_paths))

    def pools_seen(self, request: HttpRequest) -> frozenset[str] | None:
        """Return the slugs of tasks whose rows the user sees; None for all."""
        names = [self.permission_to(verb) for verb in ("view", "change")]
        if any(staff_may(request.user, name) for name in names):
            return None
        return frozenset().union(*(pools_where(request.user, name) for name in names))

    def within_role(
        self, request: HttpRequest, verb: str, rows: QuerySet[Any]
    ) -> QuerySet[Any]:
        chosen = open_to(request.user, [self.permission_to(verb)], *self.pool_paths)
        if chosen is None:
            return rows
        n_all, rows = rows.count(), rows.filter(chosen)
        if left := n_all - rows.count():
            sentence = f"{left} left out: your role on these tasks does not allow this."
            self.message_user(request, sentence, messages.WARNING)
        return rows

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        self.note_read(request, context.get("original"))
        return super().render_change_form(request, context, *args, **kwargs)

    def note_read(self, request: HttpRequest, row: Model | None) -> None:
        if row is not None and self.shows_outputs:
            reads.record(request, row, reads.Way.ADMIN, self.pool_of(row))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return self.may(request, "view", obj) or self.may(request, "change", obj)


class EditedOfTask(OfTask):
    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        """Refuse to move a row to a task on which its editor may not change it."""
        if change:
            self.insist(request, "change", obj)
        super().save_model(request, obj, form, change)

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return self.may(request, "change", obj)


class WorkOfTask(OfTask, ReadOnlyAdmin):
    pool_paths = ("task__slug",)
