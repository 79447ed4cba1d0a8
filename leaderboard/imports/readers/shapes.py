"""Reshape files and tables as a mapping says, before their columns get roles.

`files` are patterns of file names, such as `{set*}.{criterion}.seg.score`; files without
one are not read, and of several sets one is read. `header = "no"`: the first row is a row
like others. `rows` are lists in JSON of which each entry becomes a row. `cells` are
patterns for the cells of a column, such as `{item}__{system}`, of which the first that
fits all is used. `numbered` is a column: the n-th row of each of its values is item n.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, product
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.files import File
from leaderboard.imports.readers.families import Column
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.mapping import split_names
from leaderboard.imports.readers.patterns import matches
from leaderboard.imports.readers.values import MEASURES
from leaderboard.imports.readers.words import name_one_of
from leaderboard.tables import Table, columns_of

# A part of cells is a name if it comes this often, on average.
_OFTEN = 5
# Roles of columns that may be joined from another file.
_JOINED = (
    "system", "system 1", "system 2", "text", "text 1", "text 2", "source", "reference",
    "document", "kind",
)  # fmt: skip


@dataclass(frozen=True)
class Read:
    """A table that was read, with words for cells."""

    number: int
    table: Table
    words: dict[str, Any]


def as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def parts_of_names(files: Sequence[File], patterns: Any) -> dict[int, dict[str, str]]:
    """Return what the patterns read in the files' names, by number; all without patterns."""
    names = [one.name.replace("\\", "/").removesuffix(".gz") for one in files]
    if not patterns:
        return {number: {} for number in range(len(names))}
    found: dict[str, dict[str, str]] = {}
    for pattern in as_list(patterns):
        found |= matches(pattern, [name for name in names if name not in found])
    return {number: found[name] for number, name in enumerate(names) if name in found}


def of_one_set(
    files: Sequence[File], choices: Mapping[str, Any]
) -> tuple[dict[int, dict[str, str]], list[Choice]]:
    """Return the parts of the names of one set's files, and else the question which set.

    Raises "unknown-choice".
    """
    parts = parts_of_names(files, choices.get("files"))
    # a pair of languages is written da-en and daen
    named = {_plain(one): one["set"] for one in parts.values() if "set" in one}
    sets = tuple(sorted(named.values()))
    wanted = str(choices.get("set") or "")
    key = _plain({"set": wanted})
    if not parts or (wanted and key not in named):
        raise GenieError(
            f"No file is of {wanted or 'the form ' + ' or '.join(as_list(choices['files']))}; "
            f"there are {', '.join(sets or [one.name for one in files[:20]])}.",
            code="unknown-choice",
        )
    if len(sets) > 1 and not wanted:
        return parts, [Choice("set", "Which of the sets of files?", sets, needed=True)]
    return {
        number: {k: v for k, v in one.items() if k != "set"}
        for number, one in parts.items()
        if _plain(one) in ("", key) or not wanted
    }, []


def _plain(parts: Mapping[str, str]) -> str:
    return parts.get("set", "").replace("-", "")


def in_rows(table: Table, name: str) -> Table:
    """Return a table with a row for each entry of the lists in a column."""
    lists = [
        one if isinstance(one, list) else [one] for one in table.cells.get(name, ())
    ]
    if not lists:
        return table
    counts = [len(one) for one in lists]
    cells = {
        other: list(
            chain.from_iterable(
                [cell] * n for cell, n in zip(column, counts, strict=True)
            )
        )
        for other, column in table.cells.items()
        if other != name
    }
    found = columns_of([{name: one} for one in chain.from_iterable(lists)])
    cells |= {other: [*column] for other, column in found}
    numbers = np.repeat(np.asarray(table.numbers), counts).tolist()
    return replace(table, cells=cells, numbers=numbers)


def reshape(
    read: Sequence[Read],
    choices: Mapping[str, Any],
    parts: Mapping[int, Mapping[str, str]],
) -> dict[str, Any]:
    """Add columns for parts of names and cells, and return the choices with their roles.

    Raises "uneven-items".
    """
    made = dict(choices)
    known = set(chain.from_iterable(one.words for one in read))

    def add(one: Read, of: str, part: str, words: Any) -> None:
        name = f"{of}: {part}"
        one.words[name] = np.asarray(words, dtype=object)
        role = _ROLE.get(part, part)
        names = [*split_names(made.get(role) or (), known)]
        if name not in names:
            made[role] = [*names, name]

    for one in read:
        for part, word in parts[one.number].items():
            add(one, "file", part, [word] * len(one.table.numbers))
    cells = choices.get("cells") or _cells_of_two(read, choices)
    for column, patterns in cells.items():
        having = [one for one in read if column in one.words]
        different = sorted(
            set(chain.from_iterable(one.words[column] for one in having))
        )
        fields = _parts_of_cells(as_list(patterns), different)
        for one in having:
            words = one.words[column]
            for part in next(iter(fields.values()), {}):
                add(one, column, part, [fields[word][part] for word in words])
            if not fields:
                add(one, column, "item", words)
    column = choices.get("numbered")
    for one in read:
        if column in one.words:
            add(one, column, "item", list(_count_items(one, column)))
    return made


def _cells_of_two(read: Sequence[Read], choices: Mapping[str, Any]) -> dict[str, str]:
    """Return a pattern of cells such as `red,blue` that other cells choose from."""
    columns = read[0].words.items()
    for (name, words), mark in product(columns, (",", ";", "|", " vs ", " vs. ")):
        if not len(words) or words[0].count(mark) != 1:
            continue
        two = {word: word.split(mark) for word in set(words)}
        if len(two) < 2 or any(len(one) != 2 for one in two.values()):
            continue
        sides = ([two[word][k].strip() for word in words] for k in (0, 1))
        first, second = sides
        if any(
            name_one_of(cells, first, second)
            for other, cells in columns
            if other != name
        ):
            return (
                {}
                if choices.keys() & {"system", "system 1"}
                else {name: f"{{system_1}}{mark}{{system_2}}"}
            )
    return {}


_ROLE = {"part": "item", "system_1": "system 1", "system_2": "system 2"}


def _parts_of_cells(
    patterns: Iterable[str], words: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the parts of each word by the first pattern in which names come often."""
    for pattern in patterns:
        found = matches(pattern, words)
        names = zip(*(one.items() for one in found.values()), strict=True)
        if len(found) == len(words) and all(
            len(set(column)) * _OFTEN <= len(column)
            for column in names
            if column[0][0] not in ("item", "part", "system_1", "system_2")
        ):
            return found
    return {}


def _count_items(one: Read, column: str) -> Iterator[str]:
    words = one.words[column]
    sizes = set(Counter(words).values())
    if len(sizes) > 1:
        raise GenieError(
            f"{one.table.file} has {min(sizes):,} to {max(sizes):,} rows for each of its "
            "systems: it needs a row for each item.",
            code="uneven-items",
        )
    seen: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    yield from (str(next(seen[word])) for word in words)


def join_files(read: Sequence[Read], columns: Sequence[Column]) -> None:
    """Add what a file without ratings says about the items of rated rows.

    A table is joined to those that name no system, by the values of its item.
    """
    role_of = {name: one.role for one in columns for name in one.fields}

    def columns_of(one: Read, *roles: str) -> list[str]:
        return [name for name in one.words if role_of.get(name) in roles]

    rated = [one for one in read if columns_of(one, *MEASURES)]
    for other in read:
        key = next(iter(columns_of(other, "item")), "")
        row = {word: i for i, word in enumerate(other.words[key])} if key else {}
        if (
            columns_of(other, *MEASURES)
            or not columns_of(other, "system", "system 1")
            or len(row) < len(other.table.numbers)
        ):
            continue
        for one in rated:
            own = next(iter(columns_of(one, "item")), "")
            if not own or columns_of(one, "system", "system 1"):
                continue
            at = [row.get(word, -1) for word in one.words[own]]
            for name in columns_of(other, *_JOINED):
                words = [*other.words[name], ""]
                one.words.setdefault(
                    name, np.array([words[i] for i in at], dtype=object)
                )
