"""Read tables from CSV with any separator, JSON, JSON Lines, Excel and Parquet."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, dropwhile, islice, zip_longest
from pathlib import PurePosixPath
from typing import Any, NamedTuple, cast

from genie.lib.errors import GenieError
from genie.lib.formats import engine
from leaderboard.files import ZIP, File, Problem, Unreadable, printable, refuse, sheets

Cell = object  # a text, or a list
Columns = Iterable[tuple[str, Sequence[Cell]]]
# Rows, or values of JSON, with the number of each.
Numbered = Iterable[tuple[int, Any]]

PARQUET = b"PAR1"
# The endings of files that are JSON, whatever they begin with.
JSON = (".json", ".jsonl", ".ndjson")
_SEPARATORS = ",;\t|^~\x1f"
_HEAD_ROWS, _AT_ONCE = 50, 20_000
# More are no names of columns.
_MOST_KEYS = 40
_NO_HEADER = "there is no header, so columns are numbered"


class Row(NamedTuple):
    place: str
    cells: Mapping[str, Cell]


@dataclass
class Table:
    """Columns of cells, all of one length.

    An empty cell and null are "". A list in JSON stays one; an object has a column for
    each of its values, named by their path. `unit` is what `numbers` count in the file.
    """

    file: str
    cells: dict[str, list[Cell]]
    numbers: Sequence[int]
    unit: str = "row"
    problems: list[Problem] = field(default_factory=list)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.cells)

    @property
    def stem(self) -> str:
        return PurePosixPath(self.file.replace("\\", "/")).stem

    @property
    def rows(self) -> Iterator[Row]:
        for number, *cells in zip(self.numbers, *self.cells.values(), strict=True):
            place = f"{self.unit} {number:,}"
            yield Row(place, dict(zip(self.cells, cells, strict=True)))

    def values(self, column: str) -> list[Cell]:
        """Return the cells of a column that are not empty."""
        return [cell for cell in self.cells.get(column, ()) if cell != ""]

    def note(self, code: str, message: str, place: str = "", column: str = "") -> None:
        fatal = code in ("ragged-row", "not-rows")
        self.problems.append(Problem(code, message, self.file, place, column, fatal))


def read_table(file: File, within: str = "", *, header: bool = True) -> Table:
    """Read a file as one table.

    `within` is the path of the rows in nested JSON ("data.items"); by default, they are
    the only list of objects. Without `header`, the first row is a row like others.
    """
    if file.head().startswith(ZIP):
        table = _from_excel(file, header=header)
    elif file.head().startswith(PARQUET):
        table = _from_parquet(file)
    elif found := json_rows(file, within):
        table = from_objects(file, *found)
    else:
        table = _from_csv(file, header=header)
    if not table.numbers and not table.problems:
        raise refuse("no-rows", "there are no rows below the header", table.file)
    return table


def read_sound_table(file: File) -> Table:
    """Read a table of which every row is used and every column has one name."""
    table = read_table(file)
    unsound = ("duplicate-column", "no-header", "short-rows", "merged-cells")
    wrong = [one for one in table.problems if one.fatal or one.code in unsound]
    if wrong:
        raise Unreadable(*wrong)
    return table


def is_binary(file: File) -> bool:
    return file.head().startswith((*ZIP, PARQUET))


def header_words(line: str) -> set[str]:
    words = re.split(f"[{re.escape(_SEPARATORS)}]", line.lower())
    return {word.strip(" \"'\r\n") for word in words}


def first_lines(file: File) -> list[str]:
    lines = list(islice(dropwhile(str.isspace, file.lines()), _HEAD_ROWS))
    if not lines:
        raise refuse("empty-file", "the file is empty", file.name)
    return lines


def _from_grid(
    file: File, unit: str, rows: Numbered, n_above: int = 0, *, header: bool = True
) -> Table:
    rows = (pair for pair in rows if any(pair[1]))
    start = list(islice(rows, n_above + _AT_ONCE))
    if not start:
        raise refuse("empty-file", "the file is empty", file.name)
    (number, first), *others = below = start[n_above:]
    names = [str(cell).strip() for cell in first]
    if not names[-1] and any(row[-1] for _, row in others if len(row) == len(names)):
        names[-1] = f"column {len(names)}"  # a comment beside the table
    above = str(start[n_above - 1][1][0]).split() if n_above else []
    sample = zip_longest(*(row for _, row in others[:_HEAD_ROWS] if row != first))
    again = sum(w != "" and c.count(w) > 1 for w, c in zip(first, sample, strict=False))
    table = Table(file.name, {}, array("q"), unit)
    if header and len(names) - (not names[-1]) <= len(above) <= len(names) > 1:
        names, n_above, number = above, n_above - 1, start[n_above - 1][0]
    elif header and again < 2:  # else the first row has values, which come again
        below = others
    else:
        names = [f"column {k + 1}" for k in range(len(names))]
        table.note("no-header", _NO_HEADER)
    if n_above:
        table.note("above-header", f"rows above the header, without data: {n_above:,}")
    while names and not names[-1]:
        names.pop()  # spreadsheets leave empty columns
    # the index of a data frame has no name
    names = [one or f"column {k}" for k, one in enumerate(names, 1)]
    for k, n in [(k, names[:k].count(one)) for k, one in enumerate(names)]:
        if n:
            message = "two columns have this header; one is called {!r} here"
            place, new = f"{unit} {number:,}", f"{names[k]} ({n + 1})"
            table.note("duplicate-column", message.format(new), place, names[k])
            names[k] = new
    table.cells = {name: [] for name in names}
    rows = chain(below, rows)
    while batch := dict(islice(rows, _AT_ONCE)):
        if {*map(len, batch.values())} != {len(names)} or names in batch.values():
            batch = _even(table, names, batch)
        columns = zip(*batch.values(), strict=True)
        _add(table, file, batch, zip(names, columns, strict=False))
    return table


def _even(table: Table, names: list[str], rows: dict[int, Any]) -> dict[int, Any]:
    kept, n, n_repeated, n_short = dict[int, Any](), len(names), 0, 0
    usual, n_usual = Counter(map(len, rows.values())).most_common(1)[0]
    for number, row in rows.items():
        if len(row) == usual < n and n_usual > 2:  # as MTurk does
            row += [""] * (n - usual)
            n_short += 1
        while len(row) > n and not str(row[-1]).strip():
            row.pop()
        if row == names:
            n_repeated += 1
        elif len(row) == n:
            kept[number] = row
        else:
            message = (
                f"this row has {len(row)} cell{'s' * (len(row) > 1)} and the header {n}; "
                "put a cell with the separator or a line break in quotation marks"
            )
            table.note("ragged-row", message, f"{table.unit} {number:,}")
    if n_repeated:
        table.note("header-again", f"rows that repeat the header: {n_repeated:,}")
    if n_short:
        message = (
            f"rows without their last cells, which are treated as empty: {n_short:,}"
        )
        table.note("short-rows", message)
    return kept


def _add(table: Table, file: File, numbers: Iterable[int], columns: Columns) -> None:
    n, known = len(table.numbers), cast("array[int]", table.numbers)
    known.extend(numbers)
    for name, cells in columns:
        with suppress(TypeError):  # lists
            seen: dict[Cell, Cell] = {}
            cells = list(map(seen.setdefault, cells, cells))
        table.cells.setdefault(name, [""] * n).extend(cells)
    for column in table.cells.values():
        column.extend([""] * (len(known) - len(column)))
    n_rows, n_columns = file.limits.n_rows, file.limits.n_columns
    if len(known) > n_rows or len(table.cells) > n_columns:
        message = f"there are more than {n_rows:,} rows or {n_columns:,} columns"
        raise refuse("too-large", message, file.name)


def _from_csv(file: File, *, header: bool) -> Table:
    csv.field_size_limit(sys.maxsize)
    separator, n_above = _dialect(first_lines(file))
    try:
        rows = _csv_rows(file, separator, n_above)
        table = _from_grid(file, "line", rows, n_above, header=header)
        cells = chain.from_iterable(table.cells.values())
        if separator != "\t" or not any("\t" in str(cell) for cell in cells):
            return table
    except Unreadable as error:
        if separator != "\t" or error.code != "not-csv":
            raise
    # in a file with tabs, a quotation mark is mostly just that character
    rows = _csv_rows(file, separator, n_above, csv.QUOTE_NONE)
    return _from_grid(file, "line", rows, n_above, header=header)


def _dialect(start: list[str]) -> tuple[str, int]:
    """Return the separator, and how many rows are narrower than most, before the header."""
    best, found = (0.0, 0), (",", 0)
    for separator in _SEPARATORS:
        rows = csv.reader(start, delimiter=separator)
        widths = [len(row) for row in rows if any(row)] or [0]
        usual, n = Counter(widths).most_common(1)[0]
        n_above = next(i for i, width in enumerate(widths) if width >= usual)
        # a comma in most texts makes rows of several cells, but not of the same number
        score = (n / len(widths), usual)
        if usual > 1 and n_above < len(widths) / 2 and score > best:
            best, found = score, (separator, n_above)
    n_words = {0 if '"' in line else len(line.split(" ")) for line in start}
    if best == (0.0, 0) and len(start) > 4 and len(n_words) == 1 and max(n_words) > 2:
        return " ", 0
    return found


def _csv_rows(file: File, separator: str, n_above: int, quoting: Any = 0) -> Numbered:
    line, lines, n = 1, file.lines(), n_above * (separator == "\t")
    above = [one.replace('"', "") for one in islice(lines, n)]
    lines = chain(above, lines)
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        message = (
            "a quotation mark is not closed, or text follows a closed one; double a "
            'quotation mark within a cell (""), and upload the file again if it was '
            "cut off"
        )
        raise refuse("not-csv", message, file.name, f"line {line:,}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # of the same name twice only one would be kept
    found = dict(pairs)
    if len(found) < len(pairs):
        raise KeyError(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return found


# numbers are kept as they are written: many of them are ids
_JSON = json.JSONDecoder(parse_int=str, parse_float=str, object_pairs_hook=_object)


def read_json(file: File) -> Any:
    with file.text() as text:
        ((_, value),) = only_sound([(0, _parse(text.read(), file))])
    return value


def json_rows(file: File, within: str = "") -> tuple[str, Numbered] | None:
    """Return the unit and the rows of JSON, with their numbers; None: it is no JSON."""
    if file.suffix not in JSON and first_lines(file)[0].lstrip()[0] not in "{[":
        return None
    if lines := json_lines(file):
        if within:
            raise refuse(
                "no-rows",
                f"each line is a row; rows={within} expands its lists into rows",
                file.name,
            )
        return "line", lines
    return "entry", enumerate(rows_within(read_json(file), file, within), 1)


def json_lines(file: File) -> Numbered | None:
    """Return the values (or each `Problem`) and their lines; None: it is no JSON Lines."""
    start, *more = [one.strip() for one in first_lines(file) if one.strip()]
    ends = [start[0] + start[-1], *(one[0] for one in more[:1])]
    several = ends == ["{}", "{"]
    if file.suffix in JSON[1:]:
        several = start != "{" and (start[0] != "[" or ends == ["[]", "["])
    if not several:
        return None
    lines = enumerate(file.lines(), 1)
    return ((n, _parse(line.strip(), file, n)) for n, line in lines if line.strip())


def only_sound(numbered: Numbered) -> Numbered:
    """Yield the values; after the last one, raise all problems among them."""
    wrong = []
    for number, value in numbered:
        if isinstance(value, Problem):
            wrong.append(value)
        else:
            yield number, value
    if wrong:
        raise Unreadable(*wrong)


def _parse(text: str, file: File, line: int = 0) -> Any:
    try:
        return _JSON.decode(text)
    except KeyError as error:
        code, at = "duplicate-column", line or _line_of_repeated(text)
        message = f"the name “{printable(error.args[0])}” appears twice in one object"
    except json.JSONDecodeError as error:
        code, at = "not-json", line or error.lineno
        reason = f"{error.msg[0].lower()}{error.msg[1:]}"
        message = f"this is not valid JSON at character {error.colno:,}: {reason}"
        if not text[error.pos :].strip():
            message += "; upload the file again if it was cut off"
    except RecursionError:
        code, message, at = "json-too-deep", "this is nested too deeply", line
    return Problem(code, message, file.name, f"line {at:,}" * bool(at))


def _line_of_repeated(text: str) -> int:
    twice: list[bool] = []
    json.loads(text, object_pairs_hook=lambda x: twice.append(len(dict(x)) < len(x)))
    marks = re.finditer(r'"(?:[^"\\]|\\.)*"|\}', text)
    ends = (one.end() for one in marks if one[0] == "}")
    return 1 + text.count("\n", 0, next(islice(ends, twice.index(True), None)))


def rows_within(value: Any, file: File, within: str = "") -> Iterable[Any]:
    """Return the rows of a JSON value; raises "not-rows" or "several-tables".

    They are a list, the only list of objects in an object, or an object's values by
    their keys as "id"; if these are many, their values, with both keys.
    """
    for key in filter(None, within.split(".")):
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or not value:
        message = f"{within or 'the file'} holds {kind_of(value)}, not rows"
        raise refuse("not-rows", message, file.name)
    # a conversation is a list of objects, too
    lists = {k: one for k, one in value.items() if has_rows(one)}
    if len(lists) > 1:
        message = f"it has several lists of rows; choose one of {', '.join(lists)}"
        raise refuse("several-tables", message, file.name)
    nested = {k: v for k, v in value.items() if isinstance(v, dict)}
    if lists or "id" in value or not (nested or file.suffix == ".json"):
        return next(iter(lists.values()), [value])
    if any(len(one) > _MOST_KEYS for one in nested.values()):
        return (
            {"id": id, "key": key, "value": cell}
            for id, one in value.items()
            for key, cell in nested.get(id, {"": one}).items()
        )
    return by_key(value)


def by_key(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key, one in value.items():
        yield {"id": key, **(one if isinstance(one, dict) else {"output": one})}


def has_rows(value: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return False
    return not all("role" in one for one in value)


def from_objects(file: File, unit: str, numbered: Numbered) -> Table:
    """Create a table of JSON objects, each with its number."""
    table = Table(file.name, {}, array("q"), unit)
    numbered = iter(numbered)
    while batch := dict(islice(numbered, _AT_ONCE)):
        for number, value in batch.items():
            if isinstance(value, Problem):
                table.problems.append(value)
            elif isinstance(value, list):
                batch[number] = {f"column {k}": c for k, c in enumerate(value, 1)}
            elif not isinstance(value, dict):
                message = f"this is {kind_of(value)}; every row must be an object"
                table.note("not-rows", message, f"{unit} {number:,}")
        rows = {n: value for n, value in batch.items() if isinstance(value, dict)}
        _add(table, file, rows, columns_of([*rows.values()]))
    if "column 1" in table.cells:
        table.note("no-header", _NO_HEADER)
    return table


def kind_of(value: Any) -> str:
    kinds = {bool: "true or false", list: "a list", dict: "an object", str: "a text"}
    kinds[float] = "NaN or infinity"  # other numbers are texts
    return "null" if value is None else kinds.get(type(value), "a number")


def columns_of(rows: Sequence[Mapping[str, Any]], path: str = "") -> Columns:
    """Yield the values of objects, and of those within them, by their paths."""
    for name in dict.fromkeys(chain.from_iterable(rows)):
        column = [row.get(name, "") for row in rows]
        if dict in (kinds := {*map(type, column)}):
            below = [one if isinstance(one, dict) else {} for one in column]
            yield from columns_of(below, f"{path}{name}.")
            column = ["" if isinstance(one, dict) else one for one in column]
        if dict not in kinds or any(one != "" for one in column):
            yield f"{path}{name}", column if kinds == {str} else [*map(_cell, column)]


def _cell(value: object) -> Cell:
    if isinstance(value, str | list):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    word = "" if value is None else str(value)
    return word.lower() if isinstance(value, bool) else word


def _from_excel(file: File, *, header: bool) -> Table:
    for sheet in sheets(file).values():
        rows = [[*map(_cell, row)] for row in sheet.to_python()]
        (top, left), merged = sheet.start or (0, 0), sheet.merged_cell_ranges or ()
        for (first, begin), (last, end) in merged:
            own, a, b = rows[first - top : last - top + 1], begin - left, end - left + 1
            for row in own:
                row[a:b] = own[0][a : a + 1] * len(row[a:b])
        table = _from_grid(file, "row", enumerate(rows, top + 1), header=header)
        for (first, _), _ in merged[:1]:
            message = (
                "cells are merged here; unless you unmerge them, each gets the same "
                "value"
            )
            table.note("merged-cells", message, f"row {first + 1:,}")
        return table
    raise refuse("empty-file", "all visible sheets are empty", file.name)


def _from_parquet(file: File) -> Table:
    try:
        connection = engine()
    except GenieError as error:
        raise refuse(error.code, error.message.rstrip("."), file.name) from error
    import duckdb

    with connection, tempfile.NamedTemporaryFile(suffix=".parquet") as copy:
        with file.open() as stream:
            shutil.copyfileobj(stream, copy)
        copy.flush()
        try:
            found = connection.execute("FROM read_parquet(?)", [copy.name])
            names = [column[0] for column in found.description]
            rows = chain.from_iterable(iter(lambda: found.fetchmany(_AT_ONCE), []))
            objects = (dict(zip(names, row, strict=True)) for row in rows)
            return from_objects(file, "record", enumerate(objects, 1))
        except duckdb.Error as error:
            message = str(error).splitlines()[0].replace(copy.name, file.name)
            raise refuse("damaged-file", message, file.name) from error
