"""Read tables from files of any common format, with the place of each row.

CSV with any separator, JSON, JSON Lines, Excel and Parquet, each also packed with gzip or
in a ZIP file.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TextIO, cast

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie.lib.formats import engine

if TYPE_CHECKING:
    import pandas as pd

_GZIP, _ZIP, _PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"
# Files that are no tables, by their first bytes, and what to do.
_FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an Excel file of before 2007, or one with a password: save it as XLSX",
    b"%PDF": "a PDF: save the table as CSV",
    b"BZh": "packed with bzip2: unpack it first",
    b"\xfd7zXZ": "packed with xz: unpack it first",
    b"7z\xbc\xaf": "a 7z archive: unpack it first",
    b"\x28\xb5\x2f\xfd": "packed with zstd: unpack it first",
    b"SQLite format 3": "a database: save the table as CSV",
    b"\x89PNG": "a picture: a table is needed",
    b"\xff\xd8\xff": "a picture: a table is needed",
}
_MARKS = {
    # the longer marks first: UTF-32's begins like UTF-16's
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_SEPARATORS = ",;\t|^~\x1f"
_HEAD_BYTES, _HEAD_ROWS, _AT_ONCE = 1 << 16, 50, 20_000
_LINE_END = re.compile(r"\r\n|\r|\n")
_PAGE = re.compile(rb"\s*<(!doctype|html|\?xml)", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """Limits: bytes of a file once unpacked, rows, columns, characters of a cell, files."""

    n_bytes: int = 2_000_000_000
    n_rows: int = 20_000_000
    n_columns: int = 2_000
    n_characters: int = 10_000_000
    n_files: int = 2_000


@dataclass(frozen=True)
class Problem:
    """A problem and its place; `fatal` if its rows, or without a row its file, are not used.

    `place` is a row in words ("line 3"), and `column` a column's name; each may be empty.
    """

    code: str
    sentence: str
    file: str = ""
    place: str = ""
    column: str = ""
    fatal: bool = True

    def __str__(self) -> str:
        place = ", ".join(filter(None, (self.file, self.place, self.column)))
        return f"{place}: {self.sentence}" if place else self.sentence


class Unreadable(GenieError):
    """A file that cannot be read, because of one problem."""

    def __init__(self, code: str, sentence: str, file: str, place: str = "") -> None:
        self.problem = Problem(code, sentence, file, place)
        super().__init__(str(self.problem), code=code)


@dataclass(frozen=True)
class File:
    """One file, unpacked as it is read; `name` is its path in its folder or archive."""

    name: str
    stream: Callable[[], BinaryIO]
    limits: Limits = Limits()

    @property
    def ending(self) -> str:
        return PurePosixPath(self.name.lower()).suffix.removeprefix(".")

    def open(self) -> BinaryIO:
        return cast("BinaryIO", io.BufferedReader(_Limited(self), 1 << 16))

    def text(self) -> TextIO:
        """Open the file as text, without a byte order mark.

        Raises "not-a-table", "empty-file" or "not-text".
        """
        with self.open() as stream:
            head = stream.read(_HEAD_BYTES)
        for magic, kind in _FOREIGN.items():
            if head.startswith(magic):
                raise Unreadable("not-a-table", f"This is {kind}.", self.name)
        if not head.strip():
            raise Unreadable("empty-file", "The file is empty.", self.name)
        if _PAGE.match(head):
            sentence = "This is a web page: save the table in it as CSV."
            raise Unreadable("not-a-table", sentence, self.name)
        encoding = next((e for mark, e in _MARKS.items() if head.startswith(mark)), "")
        if not encoding and b"\0" in head:
            sentence = (
                "It has characters of number 0, so it is no text: save it as UTF-8."
            )
            raise Unreadable("not-text", sentence, self.name)
        return io.TextIOWrapper(self.open(), encoding or "utf-8", newline="")


class _Limited(io.RawIOBase):
    """A binary stream of a file that raises "too-large" beyond the limit of bytes."""

    def __init__(self, file: File) -> None:
        self._file, self._stream, self._n = file, file.stream(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            sentence = f"It is damaged ({error}): pack and send it again."
            raise Unreadable("damaged-file", sentence, self._file.name) from error
        self._n += len(data)
        if self._n > self._file.limits.n_bytes:
            most = self._file.limits.n_bytes
            sentence = f"It has more than {most:,} bytes once unpacked: split it."
            raise Unreadable("too-large", sentence, self._file.name)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def unpack(
    name: str, stream: Callable[[], BinaryIO], limits: Limits | None = None
) -> Iterator[File]:
    """Yield a file, or the files of a ZIP archive; each may be packed with gzip.

    Raises "damaged-file" or "too-large".
    """
    limits = limits or Limits()
    with stream() as opened:
        head = opened.read(4)
    if head[:2] == _GZIP:
        plain = name[:-3] if name.lower().endswith(".gz") else name
        yield File(plain, lambda: cast("BinaryIO", gzip.open(stream())), limits)
    elif head == _ZIP and not _is_workbook(name, stream):
        yield from _members(name, stream, limits)
    else:
        yield File(name, stream, limits)


def _is_workbook(name: str, stream: Callable[[], BinaryIO]) -> bool:
    try:
        with stream() as opened, zipfile.ZipFile(opened) as packed:
            return "xl/workbook.xml" in packed.namelist()
    except (zipfile.BadZipFile, OSError) as error:
        sentence = f"It is damaged ({error}): send it again."
        raise Unreadable("damaged-file", sentence, name) from error


def _members(
    name: str, stream: Callable[[], BinaryIO], limits: Limits
) -> Iterator[File]:
    with stream() as opened, zipfile.ZipFile(opened) as packed:
        inside = [one for one in packed.infolist() if not one.is_dir()]
        whole = sum(one.file_size for one in inside)
        if len(inside) > limits.n_files or whole > limits.n_bytes:
            sentence = (
                f"It has more than {limits.n_files:,} files or {limits.n_bytes:,} bytes: "
                "split it."
            )
            raise Unreadable("too-large", sentence, name)
        for one in inside:
            # files that macOS adds
            if not one.filename.startswith("__MACOSX/"):
                data = packed.read(one)
                yield from unpack(one.filename, partial(io.BytesIO, data), limits)


@dataclass
class Table:
    """Named columns of words, and the place of each row.

    An empty cell and null are "". A list or object in JSON stays one. `rows` numbers the
    rows within the file; `unit` says of what: "line", "row", "entry" or "record".
    """

    file: str
    cells: pd.DataFrame
    rows: npt.NDArray[np.int64]
    unit: str
    problems: list[Problem] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return [str(name) for name in self.cells]

    def place(self, i: int) -> str:
        return f"{self.unit} {self.rows[i]:,}"


def read_table(file: File, *, within: str = "") -> Table:
    """Read a file as one table.

    `within` is the path to the list of rows in nested JSON ("data.items"); by default the
    rows are the only list of objects at the top.

    Raises `Unreadable`.
    """
    with file.open() as stream:
        head = stream.read(4)
    if head == _ZIP:
        return _from_excel(file)
    if head == _PARQUET:
        return _from_parquet(file)
    with file.text() as text:
        start = _start_of(text, file)
    first = start.lstrip()[:1]
    if file.ending in ("jsonl", "ndjson") or (first == "{" and _is_by_line(start)):
        return _from_json_lines(file)
    if file.ending == "json" or first in ("{", "["):
        return _from_json(file, within)
    return _from_csv(file, start)


# CSV


def _start_of(text: TextIO, file: File) -> str:
    """Return the first lines, all of them whole unless the file has only one."""
    try:
        start = text.read(_HEAD_BYTES)
    except UnicodeDecodeError as error:
        raise _not_utf_8(file) from error
    whole, end, rest = start.rpartition("\n")
    return whole + end if len(start) == _HEAD_BYTES and end else whole + end + rest


def _from_csv(file: File, start: str) -> Table:
    separator, n_above = _dialect(start)
    try:
        batches = _csv_batches(file, separator, csv.QUOTE_MINIMAL)
        return _from_grid(file, "line", batches, n_above)
    except Unreadable as error:
        # in a file with tabs, a quotation mark is mostly just that character
        if separator != "\t" or error.code != "not-csv":
            raise
        batches = _csv_batches(file, separator, csv.QUOTE_NONE)
        return _from_grid(file, "line", batches, n_above)


def _dialect(start: str) -> tuple[str, int]:
    """Return the separator, and the number of rows above the header.

    The header is the first row of the width that most rows have.
    """
    best, found = (0.0, 0), (",", 0)
    for separator in _SEPARATORS:
        reader = csv.reader(io.StringIO(start, newline=""), delimiter=separator)
        try:
            widths = [len(row) for row in islice(reader, _HEAD_ROWS) if any(row)]
        except csv.Error:
            continue
        usual, n = Counter(widths).most_common(1)[0] if widths else (0, 0)
        n_above = widths.index(usual) if widths else 0
        # a comma in most texts makes rows of two cells, but not of the same number
        score = (n / max(len(widths), 1), usual)
        if usual > 1 and n_above < len(widths) / 2 and score > best:
            best, found = score, (separator, n_above)
    return found


Numbers = npt.NDArray[np.int64]
Batches = Iterator[tuple[Numbers, list[list[Any]]]]


def _csv_batches(file: File, separator: str, quoting: Literal[0, 3]) -> Batches:
    """Yield rows, with the number of the first line of each."""
    csv.field_size_limit(file.limits.n_characters)
    line = 0
    with file.text() as text:
        reader = csv.reader(
            _lines(text, file), delimiter=separator, quoting=quoting, strict=True
        )
        try:
            while rows := list(islice(reader, _AT_ONCE)):
                starts = np.arange(line + 1, reader.line_num + 1)
                if len(starts) > len(rows):  # some cells have several lines
                    n_lines = [_n_lines(row) for row in rows]
                    starts = np.cumsum([line + 1, *n_lines[:-1]])
                yield starts, rows
                line = reader.line_num
        except csv.Error as error:
            raise _not_csv(file, reader.line_num, str(error)) from error


def _n_lines(row: list[str]) -> int:
    return 1 + sum(len(_LINE_END.findall(cell)) for cell in row)


def _not_csv(file: File, line: int, error: str) -> Unreadable:
    sentence = (
        f"A cell has more than {file.limits.n_characters:,} characters; is a quotation "
        "mark not closed?"
        if "field larger" in error
        else "A quotation mark is not closed, or text follows a closed one; within a "
        'cell, write it twice (""). If the file is cut off, send it again.'
    )
    return Unreadable("not-csv", sentence, file.name, f"line {line:,}")


def _lines(text: TextIO, file: File) -> Iterator[str]:
    try:
        for number, line in enumerate(text, 1):
            if "\0" in line:
                sentence = "It has a character of number 0: remove it."
                raise Unreadable("not-text", sentence, file.name, f"line {number:,}")
            yield line
    except UnicodeDecodeError as error:
        raise _not_utf_8(file) from error


def _not_utf_8(file: File) -> Unreadable:
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                sentence = (
                    f"The byte 0x{line[error.start]:02x} is not UTF-8: save the file as "
                    "UTF-8 (in a spreadsheet: CSV UTF-8)."
                )
                return Unreadable("not-utf-8", sentence, file.name, f"line {number:,}")
    return Unreadable("not-utf-8", "It is not UTF-8: save it as UTF-8.", file.name)


def _from_grid(file: File, unit: str, batches: Batches, n_above: int = 0) -> Table:
    """Make a table of rows, of which the first that is not empty is the header.

    `n_above` such rows stand above it.
    """
    numbers, rows = next(batches, (np.arange(0), []))
    filled = [i for i, row in enumerate(rows) if any(row)]
    if not filled:
        raise Unreadable("empty-file", "The file is empty.", file.name)
    at = filled[n_above]
    header = [str(cell).strip() for cell in rows[at]]
    columns = _Columns(file, unit, _names(file, header, f"{unit} {numbers[at]:,}"))
    if n_above:
        columns.tell("above-header", "Rows above the header are left out", n_above)
    rest = (numbers[at + 1 :], rows[at + 1 :])
    for places, below in chain([rest], batches):
        columns.add(places, below)
    return columns.table()


def _names(file: File, header: list[str], place: str) -> list[str]:
    while header and not header[-1]:
        header.pop()  # spreadsheets leave empty columns
    if len(header) > file.limits.n_columns:
        sentence = f"There are more than {file.limits.n_columns:,} columns."
        raise Unreadable("too-large", sentence, file.name, place)
    twice = [name for name, n in Counter(header).items() if name and n > 1]
    if twice:
        sentence = f"Two columns are called {twice[0]!r}: rename one."
        raise Unreadable("duplicate-column", sentence, file.name, place)
    # the index of a data frame has no name
    return [name or f"column {k}" for k, name in enumerate(header, 1)]


class _Columns:
    """Collects rows by columns; a word that occurs often is held once."""

    def __init__(self, file: File, unit: str, names: list[str]) -> None:
        self._file, self._unit, self._names = file, unit, names
        self._numbers: list[Numbers] = []
        self._n_rows = 0
        self._columns: list[list[object]] = [[] for _ in names]
        self._seen: list[dict[object, object]] = [{} for _ in names]
        self._problems: list[Problem] = []

    def tell(self, code: str, sentence: str, n: int) -> None:
        one = Problem(code, f"{sentence}: {n:,}.", self._file.name, fatal=False)
        self._problems.append(one)

    def add(self, numbers: Numbers, rows: list[list[Any]]) -> None:
        n = len(self._names)
        if {*map(len, rows)} - {n} or [""] * n in rows or self._names in rows:
            numbers, rows = self._even(numbers, rows)
        self._numbers.append(numbers)
        self._n_rows += len(rows)
        if self._n_rows > self._file.limits.n_rows:
            sentence = f"There are more than {self._file.limits.n_rows:,} rows."
            raise Unreadable("too-large", sentence, self._file.name)
        for kept, seen, new in zip(
            self._columns, self._seen, zip(*rows, strict=True), strict=False
        ):
            words: Iterable[Any] = new
            # a column of texts or ids repeats little
            if len(seen) < _AT_ONCE / 2:
                with suppress(TypeError):  # lists and objects of JSON
                    words = list(map(seen.setdefault, new, new))
            kept.extend(words)

    def _even(
        self, numbers: Numbers, rows: list[list[Any]]
    ) -> tuple[Numbers, list[list[Any]]]:
        """Leave out empty rows, those of another width, and the header again."""
        kept: list[int] = []
        n, repeated = len(self._names), 0
        for i, row in enumerate(rows):
            while len(row) > n and not row[-1]:
                row.pop()
            if len(row) == n and row != self._names and any(row):
                kept.append(i)
            elif row == self._names:
                repeated += 1
            elif any(row):
                sentence = (
                    f"has {len(row):,} cells where the header has {n:,}; a cell with the "
                    "separator or a line break stands in quotation marks."
                )
                place = f"{self._unit} {numbers[i]:,}"
                self._problems.append(
                    Problem("ragged-row", sentence, self._file.name, place)
                )
        if repeated:
            self.tell(
                "header-again", "Rows that repeat the header are left out", repeated
            )
        return numbers[kept], [rows[i] for i in kept]

    def table(self, problems: Sequence[Problem] = ()) -> Table:
        import pandas as pd

        if not self._n_rows:
            sentence = "There is no row below the header."
            raise Unreadable("no-rows", sentence, self._file.name)
        cells = pd.DataFrame(
            dict(zip(self._names, self._columns, strict=True)), dtype=object
        )
        rows = np.concatenate(self._numbers)
        return Table(
            self._file.name, cells, rows, self._unit, [*problems, *self._problems]
        )


# JSON


def _is_by_line(start: str) -> bool:
    lines = [line.strip() for line in start.split("\n") if line.strip()]
    return len(lines) > 1 and lines[0].endswith("}") and lines[1].startswith("{")


def _from_json_lines(file: File) -> Table:
    with file.text() as text:
        numbered = [
            (number, _parsed(line, file, number))
            for number, line in enumerate(_lines(text, file), 1)
            if line.strip()
        ]
    return _from_objects(file, "line", numbered)


def _from_json(file: File, within: str) -> Table:
    with file.text() as text:
        try:
            content = text.read()
        except UnicodeDecodeError as error:
            raise _not_utf_8(file) from error
    value = _parsed(content, file)
    for key in filter(None, within.split(".")):
        value = value.get(key) if isinstance(value, dict) else None
    return _from_objects(
        file, "entry", list(enumerate(_entries(value, file, within), 1))
    )


def _entries(value: Any, file: File, within: str) -> Iterable[Any]:
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or not value:
        where = f" at {within}" if within else ""
        raise Unreadable("not-rows", f"There is no list of rows{where}.", file.name)
    lists = [one for one in value.values() if _is_rows(one)]
    if len(lists) == 1:
        return cast("list[Any]", lists[0])
    if len(lists) > 1:
        names = ", ".join(key for key, one in value.items() if _is_rows(one))
        sentence = f"There are several lists of rows: choose one of {names}."
        raise Unreadable("several-tables", sentence, file.name)
    # an object by id
    return [
        {"id": key, **(one if isinstance(one, dict) else {"value": one})}
        for key, one in value.items()
    ]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _parsed(text: str, file: File, line: int = 0) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(k for k, n in Counter(k for k, _ in pairs).items() if n > 1)
            sentence = f"The name {twice[:60]!r} stands twice in one object."
            raise Unreadable("repeated-key", sentence, file.name, place)
        return found

    place = f"line {line:,}" if line else ""
    try:
        # numbers are kept as they are written: many of them are ids
        return json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        place = f"line {line or error.lineno:,}"
        sentence = f"This is no valid JSON at character {error.colno:,}: {error.msg}."
        if not text[error.pos :].strip():
            sentence += " If the file is cut off here, send it again."
        raise Unreadable("not-json", sentence, file.name, place) from error
    except RecursionError as error:
        sentence = "It is nested too deeply."
        raise Unreadable("json-too-deep", sentence, file.name, place) from error


def _from_objects(file: File, unit: str, numbered: Sequence[tuple[int, Any]]) -> Table:
    problems, flat = list[Problem](), list[tuple[int, dict[str, object]]]()
    for number, value in numbered:
        if isinstance(value, dict):
            flat.append((number, dict(_flat(value))))
        else:
            sentence = "is no object with the names of the columns."
            place = f"{unit} {number:,}"
            problems.append(Problem("not-a-row", sentence, file.name, place))
    names = list(dict.fromkeys(key for _, row in flat for key in row))
    columns = _Columns(file, unit, _names(file, names, ""))
    rows = [[row.get(name, "") for name in names] for _, row in flat]
    columns.add(np.array([number for number, _ in flat]), rows)
    return columns.table(problems)


def _flat(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the cells of an object; those of an object within it by their path."""
    for key, one in value.items():
        name = f"{path}{key}"
        if isinstance(one, dict) and one:
            yield from _flat(one, f"{name}.")
        else:
            yield name, _word(one)


def _word(value: object) -> object:
    if value is None or value == {}:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value if isinstance(value, str | list | dict) else str(value)


# Excel and Parquet


def _from_excel(file: File) -> Table:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with file.open() as stream:
            book = CalamineWorkbook.from_filelike(io.BytesIO(stream.read()))
        sheets = {name: book.get_sheet_by_name(name) for name in book.sheet_names}
        grids = {name: sheet.to_python() for name, sheet in sheets.items()}
    except CalamineError as error:
        sentence = f"The workbook is damaged ({error}): save it again."
        raise Unreadable("damaged-file", sentence, file.name) from error
    filled = [name for name, grid in grids.items() if grid]
    if len(filled) != 1:
        names = ", ".join(repr(name) for name in filled[:5])
        sentence = (
            f"Several sheets hold something ({names}): keep one."
            if filled
            else "No sheet holds anything."
        )
        code = "several-sheets" if filled else "empty-file"
        raise Unreadable(code, sentence, file.name)
    rows = [[_word(cell) for cell in cells] for cells in grids[filled[0]]]
    first = (sheets[filled[0]].start or (0, 0))[0] + 1
    return _from_grid(file, "row", iter([(np.arange(first, first + len(rows)), rows)]))


def _from_parquet(file: File) -> Table:
    with (
        tempfile.TemporaryDirectory(prefix="genie-table-") as folder,
        engine() as connection,
    ):
        import duckdb

        path = Path(folder) / "table.parquet"
        with file.open() as stream, path.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
        try:
            found = connection.read_parquet(str(path))
            columns = _Columns(file, "record", _names(file, list(found.columns), ""))
            n = 0
            while batch := found.fetchmany(_AT_ONCE):
                rows = [[_word(cell) for cell in row] for row in batch]
                columns.add(np.arange(n + 1, n + len(rows) + 1), rows)
                n += len(rows)
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise Unreadable("damaged-file", first, file.name) from error
    return columns.table()
