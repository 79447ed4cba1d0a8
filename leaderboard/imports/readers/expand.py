"""Tables of files with words for cells: lists and objects become columns."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, combinations, zip_longest
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.files import File, Unreadable
from leaderboard.imports.readers.judgments import Problem
from leaderboard.imports.readers.names import numbers
from leaderboard.imports.readers.shapes import (
    Read,
    as_list,
    fill_down,
    in_rows,
    join_entities,
    join_tables,
    name_columns,
)
from leaderboard.imports.readers.sources import problems_of
from leaderboard.imports.readers.values import OF_FILE
from leaderboard.tables import Table, has_rows, read_json, read_table

# Three numbers or more, with marks between.
_JOINED = re.compile(
    r" *-?\d+(?:\.\d+)? *([#|;]|,(?= ))(?: *-?\d+(?:\.\d+)? *\1)+(?: *-?\d+(?:\.\d+)?)? *"
)
# `1st`, `rank_2`, `Third place`.
_PLACE = re.compile(
    r"(?<![a-z0-9])(?:(?:(?:final_|best_)order\w*?|rank\w*?|place|position|choice)[ _\[.]{0,2}(\d)|(\d)(?:st|nd|rd|th)"
    r"|(first|second|third|fourth|fifth))(?![a-z0-9])",
    re.IGNORECASE,
)
_RANKED = re.compile(r"rank|rang|pref|best|sorted|final", re.IGNORECASE)
_SHOWN = re.compile(r"shown|initial|display|presented|random|shuffle", re.IGNORECASE)
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
            tables = [
                join_entities(fill_down(name_columns(file, one, header)))
                for one in _tables_in(file, choices, header=header != "no")
            ]
            for name in as_list(choices.get("rows")):
                tables = [in_rows(one, name) for one in tables]
        except Unreadable as error:
            refused.append(error)
            continue
        problems += chain.from_iterable(map(problems_of, tables))
        read += [Read(number, *_in_order(*_words(one))) for one in tables]
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
    if len(read) > 1:
        for own, where in zip(read, _places(read), strict=True):
            n = len(own.table.numbers)
            for key, word in zip(OF_FILE, where, strict=False):
                own.words.setdefault(key, np.full(n, word, dtype=object))
    return join_tables(read), problems


def _tables_in(file: File, choices: Mapping[str, Any], *, header: bool) -> list[Table]:
    """Return a file's table, or those of lists that share few columns in an object of JSON."""
    within = str(choices.get("within") or "")
    try:
        return [read_table(file, within, header=header)]
    except Unreadable as error:
        if error.code != "several-tables" or within:
            raise
        lists = [key for key, one in read_json(file).items() if has_rows(one)]
        tables = [read_table(file, key) for key in lists]
        for one, other in combinations([{*each.cells} for each in tables], 2):
            if 2 * len(one & other) > min(len(one), len(other)):
                raise
        return tables


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
    ] + [name for name, column in decoded.items() if _has_places(column)]
    for name in long[:1]:
        table = in_rows(table, name)
    cells: dict[str, list[Any]] = table.cells
    flat: dict[str, list[Any]] = {}
    for name, column in cells.items():
        kinds = set(map(type, column))
        if kinds & {list, dict}:
            beside = {_lengths(cells[other]) for other in cells if other != name}
            parts: dict[str, list[str]] = {}
            _spread(name, column, parts, beside)
            flat |= {
                key: one for key, one in parts.items() if not _is_again(key, one, cells)
            }
        else:
            flat[name] = column if kinds <= {str} else [str(cell) for cell in column]
    for name, column in [*flat.items()]:
        if not _RANKED.search(name) and (mark := _joining_mark(column)):
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


def _is_again(name: str, column: Sequence[str], cells: Mapping[str, list[Any]]) -> bool:
    """Check whether an object's part is in a column of its name, too: answers count once."""
    other = cells.get(name.rpartition(".")[2], []) if "." in name else []
    return [*map(str.lower, column)] == [str(one).lower() for one in other]


def _has_places(column: Sequence[Any]) -> bool:
    """Check for lists of objects that have objects by place, from 1."""
    entries = (one for cell in column[:9] if isinstance(cell, list) for one in cell)
    objects = (v for one in entries if isinstance(one, dict) for v in one.values())
    return any(
        isinstance(v, dict) and len(v) > 2 and [*v] == [*map(str, range(1, len(v) + 1))]
        for v in objects
    )


def _in_order(table: Table, words: dict[str, Any]) -> tuple[Table, dict[str, Any]]:
    """Return a row for each system that an order names, with its rank.

    An order is a cell such as `red > blue = green`, or columns of places.
    """
    orders = {
        name: [each.get(cell, {}) for cell in column]
        for name, column in words.items()
        if (found := order_of(column)) and (found[0] == ">" or _RANKED.search(name))
        for each in found[1:]
    }
    used, n = {*orders}, len(table.numbers)
    places: dict[str, dict[int, str]] = {}
    for name in words:
        if (m := _PLACE.search(name)) and not _SHOWN.search(name):
            k = int(m[1] or m[2] or 1 + _ORDINALS.index(m[3].lower()))
            places.setdefault(f"{name[: m.start()]}{name[m.end() :]}", {})[k] = name
    for stem, found_ in places.items():
        cells = [[*map(str.strip, words[found_[k]])] for k in sorted(found_)]
        rows = [*zip(*cells, strict=True)]
        named = {*chain.from_iterable(cells)} - {""}
        few = (
            0 < 3 * len(named) <= n * len(found_) and np.isnan(numbers([*named])).all()
        )
        again = any(len({*row} - {""}) + row.count("") < len(row) for row in rows)
        if sorted(found_) == [*range(1, max(3, len(found_)) + 1)] and few and not again:
            orders[stem] = [
                {one: k for k, one in enumerate(row, 1) if one} for row in rows
            ]
            used |= {*found_.values()}
    if not orders:
        return table, words
    lines = [(i, name, *one) for name, rows in orders.items() for i, row in enumerate(rows) for one in (row or {"": 0}).items()]  # fmt: skip
    at, items, systems, ranks = (
        np.array(one, object) for one in zip(*lines, strict=True)
    )
    at = at.astype(int)
    rest = {name: one[at] for name, one in words.items() if name not in used}
    rest |= {"ranked item": items} if len(orders) > 1 else {}
    rest |= {
        "ranked system": systems,
        "ranked system: rank": ranks.astype(str).astype(object),
    }
    return replace(table, numbers=np.asarray(table.numbers)[at].tolist()), rest


def order_of(column: Sequence[str]) -> tuple[str, dict[str, dict[str, int]]] | None:
    """Return the mark between names in cells that order the same ones, and their ranks.

    Names joined by = have the same rank.
    """
    cells = {cell for cell in column if cell}
    for mark in (">", ";", "|", ",", " ", "") if len(cells) > 1 else ():
        names: set[frozenset[str]] = set()
        found: dict[str, dict[str, int]] = {}
        for cell in cells:
            parts = cell.split(mark) if mark else [*cell] * cell.isupper()
            tied = [[one.strip() for one in re.split("[=~]", part)] for part in parts]
            before = accumulate(map(len, tied), initial=1)
            found[cell] = {
                one: k for k, group in zip(before, tied, strict=False) for one in group
            }
            names.add(frozenset(found[cell]))
            if len(names) > 1 or not 2 < sum(map(len, tied)) == len(found[cell]) < 21:
                break
        else:
            if "" not in found[cell] and np.isnan(numbers([*found[cell]])).all():
                return mark, found
    return None


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
            _parse(c) if isinstance(c, str) and c[:1] in ("[", "{") else c
            for c in column
        ]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return column
    lists = [cell for cell in found if isinstance(cell, list)]
    kinds = {*map(type, chain.from_iterable(lists))}
    texts = [str(one) for one in chain.from_iterable(lists) if kinds == {str}]
    if kinds == {str} and len(texts) <= _MOST_PARTS * len(lists):
        return column if np.isnan(numbers(texts)).any() else found
    return found if kinds <= {dict} else column


def _parse(cell: str) -> Any:
    """Return an object or a list that JSON or Python wrote."""
    try:
        return json.loads(cell, parse_int=str, parse_float=str)
    except ValueError:
        found = ast.literal_eval(cell) if cell.startswith("{") else None
        if isinstance(found, dict):
            return found
        raise


def _joining_mark(column: Sequence[str]) -> str:
    """Return the mark between as many numbers in each cell, as in `4#2#5#`, else ""."""
    cells = {cell for cell in column if cell}
    if (order := order_of(column)) and order[0] in (" ", ","):
        return order[0]
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
