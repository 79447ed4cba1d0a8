"""Lists of the admin that stay quick however many rows there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.contrib.admin import ModelAdmin, ShowFacets
from django.core.paginator import Paginator
from django.utils.functional import cached_property

if TYPE_CHECKING:
    from django.db.models import QuerySet

# Beyond this rows are not counted: counting reads all of them, for each page shown.
COUNTED = 10_000


class MoreThan(int):
    """A number of which only the least is known."""

    def __str__(self) -> str:
        return f"{int(self):,}+"


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Count no further than COUNTED rows; what comes after is found by searching."""

    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        n = rows.order_by()[: COUNTED + 1].count()
        return MoreThan(COUNTED) if n > COUNTED else n


class ListAdmin(ModelAdmin):  # type: ignore[type-arg]
    """What every list shares: rows are counted once, and only so far.

    No `date_hierarchy`: it groups the dates of the whole table. Filter by state or
    by date instead; lists begin with the newest.
    """

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
