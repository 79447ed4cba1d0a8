from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.contrib.admin import ModelAdmin, ShowFacets
from django.contrib.admin.utils import get_fields_from_path
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils.functional import cached_property

if TYPE_CHECKING:
    from django.db.models import QuerySet

# Rows are counted up to this, because counting reads all of them for each page shown.
COUNTED = 10_000
# All rows of at most so many are searched: a more frequent word is not specific.
FEW = 100


class MoreThan(int):
    def __str__(self) -> str:
        return f"{int(self):,}+"


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        n = rows.order_by()[: COUNTED + 1].count()
        return MoreThan(COUNTED) if n > COUNTED else n


class ListAdmin(ModelAdmin):  # type: ignore[type-arg]
    """Base of lists: rows are counted once, and only up to a limit.

    No `date_hierarchy`, because it groups the dates of the whole table. Filter by state
    or by date instead; lists begin with the newest.
    """

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER


class SearchedApart(ListAdmin):
    """A list with so many rows that each field is searched separately.

    A search for a word in any of several fields reads every row; for one field the
    database has an index, or few matching rows. A field with a lookup (`key__exact`) is
    searched by that, `pk` for a number, any other for a substring. For frequent words,
    such as a digit of a name, only the newest rows are searched.
    """

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        words = search_term.split()
        if not words:
            return queryset, False
        found = [
            {pk for name in self.search_fields for pk in self._having(name, word)}
            for word in words
        ]
        return queryset.filter(pk__in=set.intersection(*found)), False

    def _having(self, name: str, word: str) -> list[Any]:
        rows = self.model._default_manager.order_by("-pk").values_list("pk", flat=True)
        if name == "pk":
            # eighteen digits fit into a key
            return (
                [*rows.filter(pk=word)] if word.isdecimal() and len(word) < 19 else []
            )
        if name.endswith("__exact"):
            return [*rows.filter(**{name: word})[:COUNTED]]
        path, _, field = name.rpartition("__")
        contains = {f"{field}__icontains": word}
        if not path:
            found = rows.exclude(**{field: ""}).filter(**contains)
        else:
            # the related rows first, because otherwise all rows are joined to them
            theirs: Any = get_fields_from_path(self.model, path)[-1].related_model
            of = theirs._default_manager.filter(**contains).order_by("-pk")
            pks = list(of.values_list("pk", flat=True)[: FEW + 1])
            found = rows.filter(**{f"{path}__in": pks})
            if len(pks) > FEW:
                newest = [*rows[:COUNTED], 0]
                oldest = newest[min(COUNTED, len(newest)) - 1]
                found = rows.filter(pk__gte=oldest, **{f"{name}__icontains": word})
        return [*found[: COUNTED + 1]]
