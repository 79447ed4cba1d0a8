import csv
import re
from dataclasses import dataclass
from io import StringIO

from genie.lib.errors import GenieError

MAX_ROWS = 5_000
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Row:
    line: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(text: str) -> Table:
    r"""Read comma-separated values with a header line; errors name the line."""
    # With `newline=""` lines may end in \n, \r\n or \r, and quoted ones stay unchanged.
    reader = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    rows: list[Row] = []
    columns: tuple[str, ...] = ()
    begins = 1
    try:
        for values in reader:
            if not columns:
                columns = _columns(values)
            elif values:
                rows.append(_row(begins, values, columns))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _wrong(f"line {begins}: {error}") from None
    if not rows:
        raise _wrong("it has no rows below the header")
    if len(rows) > MAX_ROWS:
        raise _wrong(f"it has {len(rows)} rows, but at most {MAX_ROWS} are allowed")
    return Table(columns, tuple(rows))


def _columns(values: list[str]) -> tuple[str, ...]:
    names = tuple(value.strip() for value in values)
    if not names or "" in names:
        raise _wrong("line 1: each column needs a name")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _wrong(f"line 1: the column {twice[0]} appears twice")
    return names


def _row(line: int, values: list[str], columns: tuple[str, ...]) -> Row:
    if len(values) != len(columns):
        raise _wrong(f"line {line}: {len(values)} values for {len(columns)} columns")
    unstorable = _UNSTORABLE.search("".join(values))
    if unstorable:
        raise _wrong(f"line {line}: the character {unstorable[0]!r} cannot be shown")
    return Row(line, tuple(values))


def _wrong(why: str) -> GenieError:
    return GenieError(f"The table: {why}.", code="batch-table")
