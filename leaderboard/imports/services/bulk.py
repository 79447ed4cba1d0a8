"""Store many rows of one table, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.db.models import Model

BATCH = 2_000
# Receives the number of rows stored; may raise to cancel, and then no data is stored.
Tell = Callable[[int], None]


def store(
    model: type[Model], columns: Mapping[str, Any], n: int, tell: Tell | None = None
) -> list[int]:
    """Store `n` rows and return their keys, in order.

    A column is a list, or one value for all rows.
    """
    pks: list[int] = []
    rows = _rows(columns, n)
    while some := [model(**row) for row in islice(rows, BATCH)]:
        made = model._default_manager.bulk_create(some)
        pks += [row.pk for row in made]
        if tell:
            tell(len(made))
    return pks


def _rows(columns: Mapping[str, Any], n: int) -> Iterator[dict[str, Any]]:
    names = list(columns)
    lists: list[Sequence[Any] | repeat[Any]] = [
        value if isinstance(value, list) else repeat(value, n)
        for value in columns.values()
    ]
    # a single value repeats without end, so `n` limits the rows
    for row in islice(zip(*lists, strict=False), n):
        yield dict(zip(names, row, strict=True))
