"""Reader of a table of scores, a number for each system and item.

Three layouts, recognized by the header: a column for each system and a row for each item;
a row for each system (its first column is named system or model); or a row for each
score, with columns for system, item and score. Any table, or JSON as an object of
objects, system to item to score.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, cast

from genie.lib.errors import GenieError
from genie.lib.formats import first_unfit
from leaderboard.files import File, Limits, receive, refuse
from leaderboard.tables import (
    Table,
    first_lines,
    has_rows,
    is_binary,
    json_lines,
    read_json,
    read_sound_table,
)

MOST_BYTES = 8 << 20
MOST_SYSTEMS, MOST_ITEMS = 1_000, 100_000
# squares of larger and of smaller numbers overflow or underflow
_SMALLEST, _LARGEST = 1e-100, 1e100
_SYSTEM = {"system", "model", "system_name", "submission"}
_ITEM = {"item", "instance", "id", "instance_id", "question", "question_id", "segment"}
_SCORE = {"score", "value", "rating", "correct", "resolved", "accuracy"}
_GROUP = {"group", "document", "task", "subject", "domain", "repo"}
_MISSING = {"", "na", "n/a", "none", "null"}
_TRUTHS: dict[str, float | str] = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class Scores:
    """Scores in a file, for the items scored for every system.

    Parameters
    ----------
    rows : list of list of float
        A row for each item, in the order of `systems`.
    groups : list of str or None
        Group of each item, if the file has a column for it.
    n_left_out : int
        Items without a score for some system.
    """

    systems: list[str]
    items: list[str]
    rows: list[list[float]]
    groups: list[str] | None
    n_left_out: int


# System, item, score, its row and column in words, and the item's group.
_Cell = tuple[str, str, object, str, str, object]


def read_or_refuse(file: IO[bytes], name: str = "") -> Scores | str:
    """Read a file of scores, or return its error in a sentence."""
    try:
        return read_scores(file, name)
    except GenieError as error:
        return str(error)


def read_scores(file: IO[bytes], name: str = "") -> Scores:
    """Read a file of scores.

    Raises
    ------
    GenieError
        With line and column of the first error.
    """
    found: dict[str, dict[str, float | None]] = {}
    groups: dict[str, str] = {}
    cells = _cells(receive(name, cast("BinaryIO", file), Limits(MOST_BYTES)))
    for system, item, text, place, column, group in cells:
        of_item, value = found.setdefault(item, {}), _number(str(text))
        if system in of_item:
            value = (
                f"is a second score of {system!r} for item {item!r}; use one score "
                "for each item, such as the mean"
            )
        if isinstance(value, str):
            message = f"{str(text)[:40]!r} {value}"
            raise refuse("bad-scores", message, name, place, column)
        of_item[system] = value
        if group is not None:
            groups[item] = str(group)
    scores = _complete(found, groups)
    if isinstance(scores, str):
        raise refuse("bad-scores", scores, name)
    return scores


def _cells(file: File) -> Iterator[_Cell]:
    if not is_binary(file) and first_lines(file)[0].lstrip()[0] == "{":
        value = None if json_lines(file) else read_json(file)
        if isinstance(value, dict) and not any(map(has_rows, value.values())):
            return _from_object(value, file)
    return _from_table(read_sound_table(file))


def _from_object(value: Mapping[str, Any], file: File) -> Iterator[_Cell]:
    for name, scores in value.items():
        if not isinstance(scores, dict):
            message = 'use an object from item to score, such as {"item-1": 0.5}'
            raise refuse("bad-scores", message, file.name, "", name)
        for key, score in scores.items():
            yield name, key, score, f"item {key!r}", name, None


def _from_table(table: Table) -> Iterator[_Cell]:
    first, *others = table.columns
    system, item, score, group = (
        next((name for name in table.columns if name.lower() in names), None)
        for names in (_SYSTEM, _ITEM, _SCORE, _GROUP)
    )
    by_system = first.lower() in _SYSTEM
    systems = [name for name in table.columns if name not in (item or first, group)]
    for row in table.rows:
        place, cells = row.place, row.cells
        key = str(cells[item or first]).strip()
        in_group = cells[group] if group else None
        if system and item and score:
            name = str(cells[system]).strip()
            yield name, key, cells[score], place, score, in_group
        elif by_system:
            name = str(cells[first]).strip()
            for one in others:
                yield name, one, cells[one], place, one, None
        else:
            for name in systems:
                yield name, key, cells[name], place, name, in_group


def _number(cell: str) -> float | str | None:
    """Return a score; None: it is missing; a text: the problem with it."""
    try:
        value = float(cell)
    except ValueError:
        word = cell.strip().lower()
        return None if word in _MISSING else _TRUTHS.get(word, "is not a number")
    if value == 0 or _SMALLEST <= abs(value) <= _LARGEST:
        return value
    if math.isnan(value):
        return None
    return "is out of range" if math.isfinite(value) else "is not a number"


def _complete(
    cells: dict[str, dict[str, float | None]], groups: dict[str, str]
) -> Scores | str:
    systems = list(dict.fromkeys(name for row in cells.values() for name in row))
    if unfit := next(filter(None, map(first_unfit, systems)), ""):
        return f"a system's name contains {unfit}, which cannot be shown"
    if len(systems) > MOST_SYSTEMS or len(cells) > MOST_ITEMS:
        return (
            f"{len(systems):,} systems and {len(cells):,} items are more than the limit "
            f"here: {MOST_SYSTEMS:,} and {MOST_ITEMS:,}"
        )
    if len(systems) < 2:
        return (
            "at least two systems are needed: a column for each, or columns named "
            "system, item and score"
        )
    known = {
        key: [n for name in systems if (n := row.get(name)) is not None]
        for key, row in cells.items()
    }
    rows = {key: row for key, row in known.items() if len(row) == len(systems)}
    if len(rows) < 2:
        return (
            f"only {len(rows)} of {len(cells)} items have a score for every system; at "
            "least two are needed"
        )
    kept = [groups[key] for key in rows] if groups else None
    return Scores(systems, [*rows], [*rows.values()], kept, len(cells) - len(rows))
