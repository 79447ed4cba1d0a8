"""Read tables from CSV with any separator, JSON, JSON Lines, Excel and Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from itertools import accumulate, chain, dropwhile, islice
from pathlib import PurePosixPath
from typing import Any, Literal, cast

from genie.lib.errors import GenieError
from genie.lib.formats import engine
from leaderboard.files import ZIP, File, Problem, Unreadable, printable, refuse

# A text, or a list of texts or objects.
Cell = object
# Rows, with the number of each.
Batches = Iterator[tuple[Sequence[int], list[list[Any]]]]

PARQUET = b"PAR1"
# The endings of files that are JSON, whatever they begin with.
JSON = (".json", ".jsonl", ".ndjson")
_SEPARATORS = ",;\t|^~\x1f"
_HEAD_ROWS, _AT_ONCE = 50, 20_000
# More are no names of columns.
_MOST_KEYS = 40
# In so many columns, a word of the first row comes again in two rows: it is no header.
_VALUES_AGAIN = 2
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Row:
    """One row: its cells by column, and its place in words."""

    place: str
    cells: Mapping[str, Cell]


@dataclass
class Table:
    """Columns of cells, all of one length.

    An empty cell and null are "". A list in JSON stays one; an object has a column for
    each of its values, named by their path. `numbers` are those of the rows among the
    file's lines, rows, entries or records, as `unit` says.
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


def read_table(file: File, within: str = "", *, header: bool = True) -> Table:
    """Read a file as one table.

    `within` is the path of the list of rows in nested JSON, such as "data.items"; by
    default, it is the only list of objects. Without `header`, the first row is a row like
    others. Raises `Unreadable`.
    """
    if file.head().startswith(ZIP):
        return _from_excel(file)
    if file.head().startswith(PARQUET):
        return _from_parquet(file)
    if found := json_rows(file, within):
        return from_objects(file, *found)
    return _from_csv(file, first_lines(file), header=header)


def json_rows(
    file: File, within: str = ""
) -> tuple[str, Iterable[tuple[int, Any]]] | None:
    """Return the unit and the rows of JSON, with their numbers; None: it is no JSON."""
    if file.suffix not in JSON and first_lines(file)[0].lstrip()[0] not in "{[":
        return None
    if lines := json_lines(file):
        return "line", lines
    return "entry", enumerate(rows_within(read_json(file), file, within), 1)


def read_sound_table(file: File) -> Table:
    """Read a table of which every row is used and every column has one name."""
    table = read_table(file)
    unsound = ("duplicate-column", "no-header", "short-rows")
    wrong = [one for one in table.problems if one.fatal or one.code in unsound]
    if wrong:
        raise Unreadable(*wrong)
    return table


def is_binary(file: File) -> bool:
    return file.head().startswith((*ZIP, PARQUET))


def header_words(line: str) -> set[str]:
    """Return the names in a header with any separator, in lower case."""
    words = re.split(f"[{re.escape(_SEPARATORS)}]", line.lower())
    return {word.strip(" \"'\r\n") for word in words}


def first_lines(file: File) -> list[str]:
    """Return fifty lines of a text, from the first that is not empty."""
    lines = list(islice(dropwhile(str.isspace, file.lines()), _HEAD_ROWS))
    if not lines:
        raise refuse("empty-file", "the file is empty", file.name)
    return lines


# CSV


def _from_csv(file: File, start: list[str], *, header: bool) -> Table:
    separator, n_above = _dialect(start)
    try:
        rows = _csv_rows(file, separator)
        table = _from_grid(file, "line", rows, n_above, header=header)
        cells = chain.from_iterable(table.cells.values())
        if separator != "\t" or not any("\t" in str(cell) for cell in cells):
            return table
    except Unreadable as error:
        if separator != "\t" or error.code != "not-csv":
            raise
    # in a file with tabs, a quotation mark is mostly just that character
    rows = _csv_rows(file, separator, csv.QUOTE_NONE)
    return _from_grid(file, "line", rows, n_above, header=header)


def _dialect(start: list[str]) -> tuple[str, int]:
    """Return the separator, and the number of rows above the header.

    The header is the first row with at least as many cells as most rows have.
    """
    best, found = (0.0, 0), (",", 0)
    for separator in _SEPARATORS:
        try:
            widths = [len(row) for row in csv.reader(start, delimiter=separator) if row]
        except csv.Error:
            continue
        usual, n = Counter(widths).most_common(1)[0]
        n_above = next(i for i, width in enumerate(widths) if width >= usual)
        # a comma in most texts makes rows of several cells, but not of the same number
        score = (n / len(widths), usual)
        if usual > 1 and n_above < len(widths) / 2 and score > best:
            best, found = score, (separator, n_above)
    return found


def _csv_rows(
    file: File, separator: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> Batches:
    """Yield rows, with the number of the first line of each."""
    # some more, so that what checks the cells can name the row and column
    csv.field_size_limit(2 * file.limits.n_characters)
    line = 0
    reader = csv.reader(file.lines(), delimiter=separator, quoting=quoting, strict=True)
    try:
        while rows := list(islice(reader, _AT_ONCE)):
            numbers: Sequence[int] = range(line + 1, reader.line_num + 1)
            if len(numbers) > len(rows):  # some cells have several lines
                n_lines = [
                    1 + sum(len(_LINE_END.findall(cell)) for cell in row)
                    for row in rows
                ]
                numbers = list(accumulate([line + 1, *n_lines[:-1]]))
            yield numbers, rows
            line = reader.line_num
    except csv.Error as error:
        message = (
            f"a cell has more than {file.limits.n_characters:,} characters, or a "
            "quotation mark was never closed"
            if "field larger" in str(error)
            else "a quotation mark is not closed, or text follows a closed one; write a "
            'quotation mark within a cell twice (""), and send the file again if it is '
            "cut off"
        )
        place = f"line {_last_start(file, separator):,}"
        raise refuse("not-csv", message, file.name, place) from error


def _last_start(file: File, separator: str) -> int:
    """Return the first line of the row that cannot be read."""
    line = 1
    with suppress(csv.Error):
        reader = csv.reader(file.lines(), delimiter=separator, strict=True)
        for _ in reader:
            line = reader.line_num + 1
    return line


def _from_grid(
    file: File, unit: str, batches: Batches, n_above: int = 0, *, header: bool = True
) -> Table:
    """Create a table of rows; the first that is not empty, after `n_above`, has names.

    They may be in one cell above, with blanks between.
    """
    numbers, rows = next(batches, (range(0), []))
    filled = [i for i, row in enumerate(rows) if any(row)]
    if not filled:
        raise refuse("empty-file", "the file is empty", file.name)
    at = filled[n_above]
    names = [str(cell).strip() for cell in rows[at]]
    last = [row[len(names) - 1] for row in rows[at + 1 :] if len(row) == len(names)]
    if names and not names[-1] and any(last):
        names[-1] = f"column {len(names)}"  # a comment beside the table
    above = str(rows[filled[n_above - 1]][0]).split() if n_above else []
    if header and len(above) == len(names) > 1:
        names, n_above, at = above, n_above - 1, filled[n_above - 1]
    has_header = header and (
        names == above or _is_header(rows[at], rows[at + 1 : at + _HEAD_ROWS])
    )
    if has_header:
        columns = _Columns(file, unit, names, f"{unit} {numbers[at]:,}")
    else:
        names = [f"column {k + 1}" for k in range(len(names))]
        columns = _Columns(file, unit, names)
        columns.note("no-header", "there is no header, so columns are called by number")
    if n_above:
        message = f"rows above the header, without data: {n_above:,}"
        columns.note("above-header", message)
    start = at + has_header
    for some, below in chain([(numbers[start:], rows[start:])], batches):
        columns.add(some, below)
    return columns.table()


def _is_header(first: list[Any], below: list[list[Any]]) -> bool:
    """Check that the words of the first row are not values of their columns."""
    again = 0
    for k, word in enumerate(first):
        column = [row[k] for row in below if len(row) > k and row != first]
        again += bool(word) and column.count(word) > 1
    return again < _VALUES_AGAIN


class _Columns:
    """Collects rows by columns; a word that occurs often is kept once."""

    def __init__(
        self, file: File, unit: str, names: list[str], place: str = ""
    ) -> None:
        self._file, self._unit = file, unit
        self.problems: list[Problem] = []
        self._names = self._unique(names, place)
        self._numbers = array("q")
        self._columns: list[list[Cell]] = [[] for _ in self._names]
        self._seen: list[dict[Cell, Cell]] = [{} for _ in self._names]

    def _unique(self, names: list[str], place: str) -> list[str]:
        name, most = self._file.name, self._file.limits.n_columns
        while names and not names[-1]:
            names.pop()  # spreadsheets leave empty columns
        if len(names) > most:
            raise refuse("too-large", f"there are more than {most:,} columns", name)
        # the index of a data frame has no name
        names = [one or f"column {k}" for k, one in enumerate(names, 1)]
        seen: Counter[str] = Counter()
        for k, one in enumerate(names):
            seen[one] += 1
            if seen[one] > 1:
                names[k] = f"{one} ({seen[one]})"
                message = (
                    f"two columns have this header; one is called {names[k]!r} here"
                )
                self.note("duplicate-column", message, place, one)
        return names

    def note(self, code: str, message: str, *at: str, fatal: bool = False) -> None:
        place, column = (*at, "", "")[:2]
        found = Problem(code, message, self._file.name, place, column, fatal)
        self.problems.append(found)

    def add(self, numbers: Sequence[int], rows: list[list[Any]]) -> None:
        n, most = len(self._names), self._file.limits.n_rows
        if {*map(len, rows)} - {n} or [""] * n in rows or self._names in rows:
            numbers, rows = self._even(numbers, rows)
        self._numbers.extend(numbers)
        if len(self._numbers) > most:
            message = f"there are more than {most:,} rows"
            raise refuse("too-large", message, self._file.name)
        for k, new in enumerate(zip(*rows, strict=True)):
            words: Iterable[Cell] = new
            seen = self._seen[k]
            # a column of texts or ids repeats little
            if len(seen) < (_AT_ONCE + len(self._columns[k])) / 2:
                with suppress(TypeError):  # lists
                    words = list(map(seen.setdefault, new, new))
            self._columns[k].extend(words)

    def _even(
        self, numbers: Sequence[int], rows: list[list[Any]]
    ) -> tuple[list[int], list[list[Any]]]:
        """Leave out empty rows, those of another width, and the header again."""
        kept, n, n_repeated, n_short = [], len(self._names), 0, 0
        usual, n_usual = Counter(map(len, rows)).most_common(1)[0]
        for i, row in enumerate(rows):
            if len(row) == usual < n and n_usual > 2 and any(row):  # as MTurk does
                row += [""] * (n - usual)
                n_short += 1
            while len(row) > n and not str(row[-1]).strip():
                row.pop()
            if row == self._names:
                n_repeated += 1
            elif len(row) == n and any(row):
                kept.append(i)
            elif any(row):
                message = (
                    f"this row has {len(row)} {'cell' if len(row) == 1 else 'cells'} and "
                    f"the header {n}; put a cell that contains the separator or a line "
                    "break in quotation marks"
                )
                place = f"{self._unit} {numbers[i]:,}"
                self.note("ragged-row", message, place, fatal=True)
        if n_repeated:
            self.note("header-again", f"rows that repeat the header: {n_repeated:,}")
        if n_short:
            message = f"rows without their last cells, taken for empty: {n_short:,}"
            self.note("short-rows", message)
        return [numbers[i] for i in kept], [rows[i] for i in kept]

    def table(self) -> Table:
        if not self._numbers and not self.problems:
            message = "there is a header and no row below it"
            raise refuse("no-rows", message, self._file.name)
        cells = dict(zip(self._names, self._columns, strict=True))
        return Table(self._file.name, cells, self._numbers, self._unit, self.problems)


# JSON


def read_json(file: File) -> Any:
    with file.text() as text:
        return _parse(text.read(), file)


def json_lines(file: File) -> Iterator[tuple[int, Any]] | None:
    """Return the values of JSON Lines with their numbers; None: it is one value."""
    start, *more = [one.strip() for one in first_lines(file) if one.strip()]
    if file.suffix in JSON[1:]:
        several = start != "{" and start[0] != "["
    else:
        several = [start[0] + start[-1], *(one[0] for one in more[:1])] == ["{}", "{"]
    if not several:
        return None
    lines = ((n, line.rstrip("\r\n")) for n, line in enumerate(file.lines(), 1))
    return ((n, _parse(line, file, n)) for n, line in lines if line.strip())


def _parse(text: str, file: File, line: int = 0) -> Any:
    try:
        # numbers are kept as they are written: many of them are ids
        return json.loads(
            text, parse_int=str, parse_float=str, object_pairs_hook=_object
        )
    except KeyError as error:
        code, at = "duplicate-column", line
        message = f"the name “{printable(error.args[0])}” stands twice in one object"
    except json.JSONDecodeError as error:
        code, at = "not-json", line or error.lineno
        reason = f"{error.msg[0].lower()}{error.msg[1:]}"
        message = f"this is not valid JSON at character {error.colno:,}: {reason}"
        if not text[error.pos :].strip():
            message += "; send the file again if it is cut off"
    except RecursionError:
        code, message, at = "json-too-deep", "this is nested too deeply", line
    raise refuse(code, message, file.name, f"line {at:,}" * bool(at)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with the same name twice, of which only one would be kept."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise KeyError(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return found


def rows_within(value: Any, file: File, within: str = "") -> Iterable[Any]:
    """Return the rows of a JSON value.

    They are a list, the only list of objects in an object, or an object's values, with
    their keys as "id" and texts as "output". Of objects with many values, each value is
    a row, with both keys as "id" and "key". Raises "not-rows" or "several-tables".
    """
    for key in filter(None, within.split(".")):
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or not value:
        where = f"at {within}" if within else "the file"
        message = f"{where} holds {kind_of(value)}, not rows"
        raise refuse("not-rows", message, file.name)
    # a conversation is a list of objects, too
    lists = {k: one for k, one in value.items() if has_rows(one)}
    if len(lists) > 1:
        message = f"it has several lists of rows; choose one of {', '.join(lists)}"
        raise refuse("several-tables", message, file.name)
    if lists:
        return cast("list[Any]", next(iter(lists.values())))
    nested = any(isinstance(one, dict) for one in value.values())
    if "id" in value or not (nested or file.suffix == ".json"):
        return [value]
    if any(isinstance(v, dict) and len(v) > _MOST_KEYS for v in value.values()):
        return [
            {"id": id, "key": key, "value": v}
            for id, one in value.items()
            for key, v in (one.items() if isinstance(one, dict) else [("", one)])
        ]
    return by_key(value)


def by_key(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key, one in value.items():
        yield {"id": key, **(one if isinstance(one, dict) else {"output": one})}


def has_rows(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) for one in value)
        and not all("role" in one for one in value)
    )


def from_objects(file: File, unit: str, numbered: Iterable[tuple[int, Any]]) -> Table:
    """Create a table of JSON objects, each with its number."""
    rows: dict[int, dict[str, Cell]] = {}
    wrong: dict[str, str] = {}
    for number, value in numbered:
        if isinstance(value, dict):
            rows[number] = dict(flat(value))
        else:
            wrong[f"{unit} {number:,}"] = kind_of(value)
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    columns = _Columns(file, unit, names)
    for place, kind in wrong.items():
        message = f"{kind} stands here; every row must be an object with named values"
        columns.note("not-rows", message, place, fatal=True)
    filled = [[row.get(name, "") for name in names] for row in rows.values()]
    columns.add(list(rows), filled)
    return columns.table()


def kind_of(value: Any) -> str:
    kinds = {bool: "true or false", list: "a list", dict: "an object", str: "a text"}
    kinds[float] = "NaN or infinity"  # other numbers are texts
    return "null" if value is None else kinds.get(type(value), "a number")


def flat(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Cell]]:
    """Yield the values of an object and of those within it, by their paths."""
    for key, one in value.items():
        if isinstance(one, dict) and one:
            yield from flat(one, f"{path}{key}.")
        else:
            yield f"{path}{key}", _cell(one)


def _cell(value: object) -> Cell:
    if value is None or value == {}:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value if isinstance(value, str | list) else str(value)


# Excel and Parquet


def _from_excel(file: File) -> Table:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with file.open() as stream:
            book = CalamineWorkbook.from_filelike(io.BytesIO(stream.read()))
        sheets = [book.get_sheet_by_name(name) for name in book.sheet_names]
        grids: list[list[list[Any]]] = [one.to_python() for one in sheets]
        filled = [pair for pair in zip(sheets, grids, strict=True) if pair[1]]
    except CalamineError as error:
        message = f"the workbook is damaged ({error}); save it again"
        raise refuse("damaged-file", message, file.name) from error
    if not filled:
        raise refuse("empty-file", "no sheet holds anything", file.name)
    if len(filled) > 1:
        names = ", ".join(f"“{printable(one.name)}”" for one, _ in filled[:5])
        message = f"{len(filled)} sheets hold something ({names})"
        advice = "; keep one, or save each as a file"
        raise refuse("several-sheets", message + advice, file.name)
    sheet, grid = filled[0]
    for start, end in sheet.merged_cell_ranges or ():
        place = f"row {start[0] + 1:,}"
        message = (
            f"{(end[0] - start[0] + 1) * (end[1] - start[1] + 1)} cells are merged here; "
            "unmerge them, so that each column has one header and each row one cell"
        )
        raise refuse("merged-cells", message, file.name, place)
    first = (sheet.start or (0, 0))[0] + 1
    rows = [[_cell(cell) for cell in row] for row in grid]
    return _from_grid(file, "row", iter([(range(first, first + len(rows)), rows)]))


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
            names, n = [column[0] for column in found.description], 0
            columns = _Columns(file, "record", names)
            while batch := found.fetchmany(_AT_ONCE):
                rows = [[_cell(cell) for cell in row] for row in batch]
                columns.add(range(n + 1, n + len(rows) + 1), rows)
                n += len(rows)
        except duckdb.Error as error:
            message = str(error).splitlines()[0].replace(copy.name, file.name)
            raise refuse("damaged-file", message, file.name) from error
    return columns.table()
