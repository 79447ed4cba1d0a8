"""Tables of files with words for cells: lists and objects become columns."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.files import File, Unreadable
from leaderboard.imports.readers.judgments import Problem
from leaderboard.imports.readers.names import numbers
from leaderboard.imports.readers.shapes import (
    Read,
    as_list,
    in_rows,
    join_entities,
    name_columns,
)
from leaderboard.imports.readers.sources import problems_of
from leaderboard.imports.readers.values import OF_FILE
from leaderboard.tables import Table, read_table

# Three numbers or more, with marks between.
_JOINED = re.compile(
    r" *-?\d+(?:\.\d+)? *([#|;]|,(?= ))(?: *-?\d+(?:\.\d+)? *\1)+(?: *-?\d+(?:\.\d+)?)? *"
)
# `1st`, `rank_2`, `Third place`.
_PLACE = re.compile(
    r"(?<![a-z0-9])(?:(?:rank\w*?|place|position|choice)[ _\[]{0,2}(\d)|(\d)(?:st|nd|rd|th)"
    r"|(first|second|third|fourth|fifth))(?![a-z0-9])",
    re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
# A longer list is rows, a shorter one columns.
_MOST_PARTS = 40


def read_tables(
    files: Sequence[File], choices: Mapping[str, Any], wanted: Iterable[int]
) -> tuple[list[Read], list[Problem]]:
    read: list[Read] = []
    problems: list[Problem] = []
    refused: list[Unreadable] = []
    for number in wanted:
        file = files[number]
        try:
            header = choices.get("header")
            table = read_table(
                file, str(choices.get("within") or ""), header=header != "no"
            )
            table = join_entities(name_columns(file, table, header))
            for name in as_list(choices.get("rows")):
                table = in_rows(table, name)
        except Unreadable as error:
            refused.append(error)
            continue
        problems += problems_of(table)
        read.append(Read(number, *_places_in_rows(*_words(table))))
    if not read:
        first = (
            refused[0] if refused else GenieError("There is no file.", code="no-file")
        )
        if first.code in ("not-rows", "several-tables"):
            hint = (
                "--choose within=PATH names the place of the rows, such as data.items."
            )
            raise GenieError(f"{first.message} {hint}", code=first.code)
        raise first
    problems += [
        Problem(
            one.problems[0].file,
            0,
            "",
            f"Not read: {one.problems[0].message}.",
            fatal=one.code not in ("not-a-table", "not-text", "empty-file", "no-rows"),
        )
        for one in refused
    ]
    if len(files) > 1:
        for own, where in zip(read, _places(read), strict=True):
            n = len(own.table.numbers)
            for key, word in zip(OF_FILE, where, strict=False):
                own.words.setdefault(key, np.full(n, word, dtype=object))
    return read, problems


def _places(read: Sequence[Read]) -> list[tuple[str, ...]]:
    """Return the names of each file and of two folders that are not the same for all."""
    paths = [one.table.file.replace("\\", "/").split("/")[:-1] for one in read]
    shared = [len(set(parts)) == 1 for parts in zip_longest(*paths)]
    apart = [
        [part for part, same in zip(path, shared, strict=False) if not same] or [""]
        for path in paths
    ]
    return [
        (one.table.stem, path[0], *filter(None, ["/".join(path[1:])]))
        for one, path in zip(read, apart, strict=True)
    ]


def _words(table: Table) -> tuple[Table, dict[str, Any]]:
    """Return the cells as words; lists become rows if they are long, else columns."""
    decoded = {name: _decode(column) for name, column in table.cells.items()}
    table = replace(table, cells=decoded)
    long = [
        name
        for name, column in decoded.items()
        if max(_lengths(column), default=0) > _MOST_PARTS
        and any(
            isinstance(one, dict)
            for cell in column
            if isinstance(cell, list)
            for one in cell[:1]
        )
    ]
    for name in long[:1]:
        table = in_rows(table, name)
    cells: dict[str, list[Any]] = table.cells
    flat: dict[str, list[Any]] = {}
    for name, column in cells.items():
        kinds = set(map(type, column))
        if kinds & {list, dict}:
            beside = {_lengths(cells[other]) for other in cells if other != name}
            _spread(name, column, flat, beside)
        else:
            flat[name] = column if kinds <= {str} else [str(cell) for cell in column]
    for name, column in [*flat.items()]:
        if mark := _joining_mark(column):
            del flat[name]
            lists = [
                cell.strip(f"{mark} ").split(mark) if cell else "" for cell in column
            ]
            _spread(name, lists, flat)
    words = {}
    for name, column in flat.items():
        each = {one: _storable(one) for one in set(column)}
        words[_storable(name)] = np.array([each[one] for one in column], dtype=object)
    # no cell is held twice
    return replace(table, cells={}), words


def _places_in_rows(
    table: Table, words: dict[str, Any]
) -> tuple[Table, dict[str, Any]]:
    """Return a row for each of the columns of places that name what was ranked."""
    found = {
        int(m[1] or m[2] or 1 + _ORDINALS.index(m[3].lower())): name
        for name in words
        if (m := _PLACE.search(name))
    }
    n = len(found)
    if n < 3 or {*found} != {*range(1, n + 1)}:
        return table, words
    cells = [[*map(str.strip, words[found[k]])] for k in range(1, n + 1)]
    named = {*chain.from_iterable(cells)} - {""}
    again = any(
        len({*row} - {""}) + row.count("") < n for row in zip(*cells, strict=True)
    )
    if (
        again
        or 3 * len(named) > len(table.numbers) * n
        or not np.isnan(numbers([*named])).all()
    ):
        return table, words
    rest = {
        name: np.repeat(one, n)
        for name, one in words.items()
        if name not in found.values()
    }
    rest["ranked system"] = np.array(cells, dtype=object).T.ravel()
    rest["rank"] = np.array(
        [*map(str, range(1, n + 1))] * len(table.numbers), dtype=object
    )
    return replace(
        table, numbers=np.repeat(np.asarray(table.numbers), n).tolist()
    ), rest


def _storable(text: str) -> str:
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _decode(column: list[Any]) -> list[Any]:
    """Return cells that are all JSON objects, or lists of them or of numbers, as these."""
    filled = [c for c in column if not isinstance(c, str) or c.strip()]
    coded = [isinstance(c, str) and c[:1] in ("[", "{") for c in filled]
    # answers of other questions may be between them
    if 2 * sum(coded) < len(filled) or not any(coded):
        return column
    try:
        found = [
            json.loads(c, parse_int=str, parse_float=str)
            if isinstance(c, str) and c[:1] in ("[", "{")
            else c
            for c in column
        ]
    except (ValueError, RecursionError):
        return column
    lists = [cell for cell in found if isinstance(cell, list)]
    kinds = {*map(type, chain.from_iterable(lists))}
    texts = [str(one) for one in chain.from_iterable(lists) if kinds == {str}]
    if kinds == {str} and len(texts) <= _MOST_PARTS * len(lists):
        return column if np.isnan(numbers(texts)).any() else found
    return found if kinds <= {dict} else column


def _joining_mark(column: Sequence[str]) -> str:
    """Return the mark between as many numbers in each cell, as in `4#2#5#`, else ""."""
    cells = {cell for cell in column if cell}
    n_names = min(cells, default="").count(">") + 1
    # An order of the same names in each cell: `<b>text</b>` has the mark, too.
    if n_names > 2 and {
        len({name.strip() for name in cell.split(">")}) for cell in cells
    } == {n_names}:
        names = {name.strip() for cell in cells for name in cell.split(">")}
        return ">" if len(names) == n_names else ""
    joined = [_JOINED.fullmatch(cell) for cell in cells]
    marks = {one[1] for one in joined if one}
    if len(marks) != 1 or not all(joined):
        return ""
    mark = marks.pop()
    sizes = {cell.strip(f"{mark} ").count(mark) for cell in cells}
    return mark if len(sizes) == 1 else ""


def _lengths(column: Sequence[Any]) -> tuple[int, ...]:
    return tuple(len(cell) if isinstance(cell, list) else 0 for cell in column)


def _spread(
    name: str,
    column: Sequence[Any],
    flat: dict[str, list[str]],
    sizes: Collection[tuple[int, ...]] = (),
) -> None:
    """Add the parts of lists and objects as columns: `name[1].key`.

    Sentences and turns are joined to a text, unless another list has as many parts.
    """
    beside = _is_even(column) and _lengths(column) in sizes
    if all(isinstance(c, str) or _is_text(c) for c in column) and not beside:
        flat[name] = [c if isinstance(c, str) else _text(c) for c in column]
        return
    parts: dict[str, list[Any]] = {}
    n = len(column)
    for i, cell in enumerate(column):
        for key, one in _parts(cell):
            parts.setdefault(f"{name}{key}", [""] * n)[i] = one
    for key, values in ((key, _decode(one)) for key, one in parts.items()):
        if any(isinstance(one, list | dict) for one in values):
            _spread(key, values, flat)
        else:
            flat[key] = ["" if one is None else str(one).lower() if isinstance(one, bool) else str(one)
                         for one in values]  # fmt: skip


def _parts(cell: Any) -> list[tuple[str, Any]]:
    if isinstance(cell, list):
        return [(f"[{k}]", one) for k, one in enumerate(cell, 1)]
    if isinstance(cell, dict):
        return [(f".{key}", one) for key, one in cell.items()]
    return [("", cell)] if cell != "" else []


def _is_text(cell: Any) -> bool:
    return isinstance(cell, list) and all(
        " " in one.strip()
        if isinstance(one, str)
        else isinstance(one, dict) and "role" in one
        for one in cell
    )


def _is_even(column: Sequence[Any]) -> bool:
    sizes = {len(cell) for cell in column if isinstance(cell, list)}
    turns = any(isinstance(o, dict) for c in column if isinstance(c, list) for o in c)
    return len(sizes) == 1 and not turns


def _text(cell: Sequence[Any]) -> str:
    lines = [
        one
        if isinstance(one, str)
        else f"{one.get('role', '')}: {one.get('content', '')}"
        for one in cell
    ]
    return "\n".join(lines)
