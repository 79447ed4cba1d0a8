"""Files of ratings, and the rows of their tables."""

import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.files import STREAM, File, Unreadable, open_file, unpack
from leaderboard.imports.readers.judgments import Judgments, Problem
from leaderboard.tables import Table, is_binary, read_table

# Enough of a file to recognize it.
_HEAD_BYTES = 65_536


def sources_in(path: Path) -> list[File]:
    """Return a file, or all files of a folder, with those of archives.

    Raises "no-file" if there is none.
    """
    if path == STREAM:
        return list(unpack("standard input", partial(open_file, path)))
    top, found = (path.parent, [path]) if path.is_file() else (path, path.rglob("*"))
    files = [
        file
        for one in sorted(found)
        if one.is_file()
        for file in unpack(one.relative_to(top).as_posix(), partial(open_file, one))
    ]
    if not files:
        raise GenieError(f"There is no file {path}.", code="no-file")
    return files


def sample(file: File, *, header: bool = True) -> Table | None:
    """Read the first rows of a table; None for a file that is no table."""
    head = file.head()
    # a cell of several lines may be cut, and rows further below may be damaged
    ends = [head.rfind(b"\n", 0, len(head) // n) + 1 for n in (1, 2, 4, 8, 16)]
    name = file.name.removesuffix(".gz")
    parts = [File(name, partial(io.BytesIO, head[:end])) for end in ends]
    if len(head) < _HEAD_BYTES or is_binary(file):
        parts.insert(0, file)
    for part in parts:
        with suppress(Unreadable):
            return read_table(part, header=header)
    return None


def has_columns(file: File, *names: str) -> bool:
    table = sample(file)
    return table is not None and {*names} <= {name.lower() for name in table.columns}


def first_rows(file: File) -> list[list[Any]]:
    """Return two rows of a table that may have no header; none if it is no table."""
    table = sample(file, header=False)
    return [row for _, row in islice(_grid(table), 2)] if table else []


def _grid(table: Table) -> Iterator[tuple[int, list[Any]]]:
    columns = list(table.cells.values())
    while columns and not any(columns[-1]):
        columns.pop()
    for number, *row in zip(table.numbers, *columns, strict=True):
        yield number, row


def parsed_rows(
    file: File,
    names: Sequence[str],
    parsers: Mapping[str, Callable[[str], Any]],
    made: Judgments,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table without header; unreadable cells are reported."""
    table = read_table(file, header=False)
    found = [one for one in table.problems if one.code != "no-header"]
    made.problems += problems_of(replace(table, problems=found))
    for number, cells in _grid(table):
        row = {**dict(zip(names, cells, strict=False)), "row": number, "usable": True}
        for name in [one for one in parsers if one in row]:
            try:
                row[name] = parsers[name](str(row[name]))
            except (ValueError, TypeError, AttributeError, LookupError) as error:
                why = "it is unknown" if isinstance(error, LookupError) else error
                what = f"{row[name]!r} cannot be used: {why}."
                made.report(file.name, number, name, what)
                row["usable"] = False
        yield row


def pairs_in(files: Sequence[File], key: str, value: str) -> dict[str, str]:
    """Return one column by another, of all tables that have both."""
    tables = [read_table(file) for file in files if has_columns(file, key, value)]
    return {str(r.cells[key]): str(r.cells[value]) for one in tables for r in one.rows}


def rows_of(file: File, made: Judgments) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a table with their numbers; its problems are reported."""
    table = read_table(file)
    made.problems += problems_of(table)
    for number, row in zip(table.numbers, table.rows, strict=True):
        yield number, row.cells


def problems_of(table: Table) -> Iterator[Problem]:
    for one in table.problems:
        row = int("0" + re.sub(r"\D", "", one.place))
        sentence = f"{one.message[:1].upper()}{one.message[1:]}."
        yield Problem(one.file, row, one.column, sentence, one.fatal)


def stem_of(file: File) -> str:
    """Return the name of a file of scores without its folder and endings."""
    name = file.name.rpartition("/")[2]
    return re.sub(r"(\.scores)?(\.\w+)?(\.gz)?$", "", name) or name


def number_of(value: object) -> float:
    """Return a cell as a number, NaN if it is none."""
    with suppress(ValueError):
        return finite(value)
    return math.nan


def finite(value: object) -> float:
    number = float(str(value))
    if not math.isfinite(number):
        raise ValueError("it is not finite")
    return number
