"""Reader of a table of scores, a number for each system and item.

Three layouts, recognized by the header: a column for each system and a row for each item;
a row for each system (its first column is named system or model); or a line for each
score, with columns for system, item and score. CSV or TSV; JSON as an object of objects,
system to item to score.
"""

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from genie.lib.errors import GenieError

MOST_BYTES = 8 << 20
MOST_SYSTEMS, MOST_ITEMS = 1_000, 100_000
# squares of larger and of smaller numbers overflow or underflow
_SMALLEST, _LARGEST = 1e-100, 1e100
_SYSTEM = {"system", "model", "system_name", "submission"}
_ITEM = {"item", "instance", "id", "instance_id", "question", "question_id", "segment"}
_SCORE = {"score", "value", "rating", "correct", "resolved", "accuracy"}
_GROUP = {"group", "document", "task", "subject", "domain", "repo"}
_MISSING = {"", "na", "n/a", "nan", "none", "null"}
_TRUTHS = {"true": 1.0, "false": 0.0}


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


def read_or_refuse(file: IO[bytes]) -> Scores | str:
    """Read a file of scores, or return its error in a sentence."""
    try:
        return read_scores(file)
    except GenieError as error:
        return str(error)


def read_scores(file: IO[bytes]) -> Scores:
    """Read a file of scores.

    Raises
    ------
    GenieError
        With line and column of the first error.
    """
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _wrong(f"The file is larger than {MOST_BYTES >> 20} MB, the limit here.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong("The file is not UTF-8 text.") from None
    if not text.strip():
        raise _wrong("The file is empty; it needs a header and a row for each item.")
    if text.lstrip().startswith("{"):
        return _complete(*_from_json(text))
    return _complete(*_from_table(text))


Cells = dict[str, dict[str, float | None]]
Groups = dict[str, str]


def _from_table(text: str) -> tuple[Cells, Groups]:
    first = text.lstrip("\r\n").split("\n", 1)[0]
    mark = "\t" if "\t" in first else ","
    lines = _lines(text, mark)
    header = [cell.strip() for cell in next(lines)[1]]
    lower = [name.lower() for name in header]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise _wrong(f"Line 1: two columns are named {twice!r}; name each once.")
    system, item, score, group = (
        next((i for i, name in enumerate(lower) if name in names), None)
        for names in (_SYSTEM, _ITEM, _SCORE, _GROUP)
    )
    if system is not None and item is not None and score is not None:
        return _long(lines, header, (system, item, score), group)
    if lower[0] in _SYSTEM:
        return _by_system(lines, header), {}
    return _by_item(lines, header, item or 0, group)


def _lines(text: str, mark: str) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    width = 0
    try:
        for row in rows:
            if not row:
                continue
            width = width or len(row)
            if len(row) != width:
                raise _wrong(
                    f"Line {rows.line_num} has {len(row)} fields where the header has "
                    f"{width}."
                )
            yield rows.line_num, row
    except csv.Error as error:
        raise _wrong(f"Line {rows.line_num}: {error}.") from None


def _long(
    lines: Iterator[tuple[int, list[str]]],
    header: Sequence[str],
    columns: tuple[int, int, int],
    group: int | None,
) -> tuple[Cells, Groups]:
    system, item, score = columns
    cells: Cells = {}
    groups: Groups = {}
    for number, row in lines:
        name, key = row[system].strip(), row[item].strip()
        of_item = cells.setdefault(key, {})
        if name in of_item:
            raise _wrong(
                f"Line {number}: {name!r} has a second score for item {key!r}; "
                "give one for each item, such as the mean."
            )
        of_item[name] = _number(row[score], number, header[score])
        if group is not None:
            groups[key] = row[group]
    return cells, groups


def _by_item(
    lines: Iterator[tuple[int, list[str]]],
    header: Sequence[str],
    item: int,
    group: int | None,
) -> tuple[Cells, Groups]:
    cells: Cells = {}
    groups: Groups = {}
    for number, row in lines:
        key = row[item].strip()
        if key in cells:
            raise _wrong(f"Line {number}: item {key!r} stands there twice.")
        cells[key] = {
            name: _number(row[i], number, name)
            for i, name in enumerate(header)
            if i not in (item, group)
        }
        if group is not None:
            groups[key] = row[group]
    return cells, groups


def _by_system(lines: Iterator[tuple[int, list[str]]], header: Sequence[str]) -> Cells:
    cells: Cells = {key: {} for key in header[1:]}
    for number, row in lines:
        name = row[0].strip()
        for key, cell in zip(header[1:], row[1:], strict=True):
            if name in cells[key]:
                raise _wrong(f"Line {number}: system {name!r} stands there twice.")
            cells[key][name] = _number(cell, number, key)
    return cells


def _from_json(text: str) -> tuple[Cells, Groups]:
    try:
        content = json.loads(text)
        # unpaired surrogates, which JSON can contain and answers cannot encode
        "".join(content).encode()
    except (ValueError, RecursionError):
        raise _wrong("The file begins like JSON but is not valid JSON.") from None
    cells: Cells = {}
    for name, scores in content.items():
        if not isinstance(scores, dict):
            raise _wrong(
                f"System {name!r}: give an object from item to score, such as "
                '{"item-1": 0.5}.'
            )
        for key, score in scores.items():
            cells.setdefault(key, {})[name] = _number(str(score), 0, f"{name}, {key}")
    return cells, {}


def _number(cell: str, line: int, column: str) -> float | None:
    word = cell.strip().lower()
    if word in _MISSING:
        return None
    if word in _TRUTHS:
        return _TRUTHS[word]
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        where = f"Line {line}, column" if line else "Entry"
        raise _wrong(f"{where} {column!r}: {cell[:40]!r} is not a number.")
    if value and not _SMALLEST <= abs(value) <= _LARGEST:
        where = f"Line {line}, column" if line else "Entry"
        raise _wrong(f"{where} {column!r}: {cell[:40]!r} is out of range.")
    return value


def _complete(cells: Cells, groups: Groups) -> Scores:
    systems = list(dict.fromkeys(name for row in cells.values() for name in row))
    if len(systems) > MOST_SYSTEMS or len(cells) > MOST_ITEMS:
        raise _wrong(
            f"{len(systems):,} systems and {len(cells):,} items are more than the limit "
            f"here: {MOST_SYSTEMS:,} and {MOST_ITEMS:,}."
        )
    if len(systems) < 2:
        raise _wrong(
            "At least two systems are needed: a column for each, or columns named "
            "system, item and score."
        )
    items, rows = [], []
    for key, row in cells.items():
        values = [row.get(name) for name in systems]
        known = [value for value in values if value is not None]
        if len(known) == len(systems):
            items.append(key)
            rows.append(known)
    if len(items) < 2:
        raise _wrong(
            f"Only {len(items)} of {len(cells)} items have a score for every system; at "
            "least two are needed."
        )
    kept = [groups[key] for key in items] if groups else None
    return Scores(systems, items, rows, kept, len(cells) - len(items))


def _wrong(sentence: str) -> GenieError:
    return GenieError(sentence, code="bad-scores")
