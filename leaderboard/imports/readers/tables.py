"""Tables of words from any format, with the line of each row."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie.lib.formats import engine
from leaderboard.imports.readers.judgments import Problem
from leaderboard.imports.readers.names import PERSONAL, plain
from leaderboard.imports.readers.sources import Source

if TYPE_CHECKING:
    import pandas as pd

SEPARATED = ("csv", "tsv", "tab", "txt")
ENDINGS = (*SEPARATED, "jsonl", "json", "ndjson", "parquet")
_PARQUET = b"PAR1"
# A cell may contain a conversation.
_LONGEST_CELL = 10_000_000
# An e-mail address, or an IPv4 address: answers contain neither.
_PERSON = r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}|(?:\d{1,3}\.){3}\d{1,3}"


@dataclass
class Table:
    """A table of words.

    Empty cells and null are "", objects and lists are JSON. `rows` has the line or
    record of each row, from 1; `problems` are of rows that are left out.
    """

    name: str
    words: pd.DataFrame
    rows: npt.NDArray[np.int64]
    problems: list[Problem] = field(default_factory=list)

    @property
    def header(self) -> list[str]:
        return [str(name) for name in self.words]

    def column(self, name: str) -> npt.NDArray[np.object_]:
        """Return a column without blanks around its words."""
        return np.array([word.strip() for word in self.words[name]], dtype=object)

    def names(self, name: str) -> npt.NDArray[np.object_]:
        """Return a column of names; blanks around stay if only they tell two apart."""
        words, raw = self.column(name), self.words[name].to_numpy(dtype=object)
        raw = np.where(words == "", "", raw)
        return words if len(set(raw)) == len(set(words)) else raw


def header_of(source: Source) -> list[str]:
    """Return a table's columns from its beginning; empty if it is no table."""
    if source.ending == "parquet" or source.data[:4] == _PARQUET:
        return _parquet_head(source)[0]
    if source.ending in SEPARATED:
        return _header(source.head)
    if source.ending in ("jsonl", "ndjson", "json"):
        return list(next(iter(_objects_of_head(source.head, most=1)), {}))
    return []


def _header(text: str) -> list[str]:
    try:
        csv.field_size_limit(_LONGEST_CELL)
        first = next(csv.reader(io.StringIO(text), delimiter=separator_of(text)), [])
    except csv.Error:
        return []
    names = [name.strip() for name in first]
    return names if len(names) > 1 and len(set(names)) == len(names) else []


def separator_of(text: str) -> str:
    """Return the separator of the first line: tab, semicolon, comma or bar."""
    line = text.lstrip("\n").split("\n", 1)[0]
    outside = "".join(line.split('"')[::2])
    return max(
        ("\t", ";", ",", "|"), key=lambda mark: (outside.count(mark), mark == ",")
    )


def table_of(source: Source) -> Table:
    """Read a table from CSV with any separator, JSON, JSON Lines or Parquet.

    Raises "not-csv", "not-json" or "no-rows", and errors of `Source.text`.
    """
    if source.ending == "parquet" or source.data[:4] == _PARQUET:
        header, records = _parquet(source)
        numbered = list(enumerate(records, 1))
    elif source.ending in ("jsonl", "ndjson"):
        return _of_objects(source, source.objects())
    elif source.ending == "json":
        listed = source.json()
        if not isinstance(listed, list):
            raise GenieError(
                f"{source.name} is not a list of objects.", code="not-json"
            )
        return _of_objects(source, enumerate(listed, 1))
    else:
        return _of_csv(source)
    return _made(source.name, header, numbered, [])


def _of_csv(source: Source) -> Table:
    problems: list[Problem] = []
    kept: list[tuple[int, list[str]]] = []
    rows = csv_rows(source, separator_of(source.text))
    header = [name.strip() for name in next(rows, (0, []))[1]]
    for row, cells in rows:
        if len(cells) == len(header):
            kept.append((row, cells))
            continue
        problems.append(
            Problem(source.name, row, "",
                    f"has {len(cells):,} cells where the header has {len(header):,}; "
                    "quote cells that hold the separator.")
        )  # fmt: skip
    if n := len(problems):
        sentence = f"{n:,} of {n + len(kept):,} rows were not read" + (
            "." if source.text.endswith(("\n", "\r")) else
            "; the last line has no end, so the file may be cut off: send it again."
        )  # fmt: skip
        problems.append(Problem(source.name, 0, "", sentence, fatal=False))
    return _made(source.name, header, kept, problems)


def csv_rows(source: Source, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the non-empty rows of a CSV file, each with its first line's number.

    Raises ``not-csv``, also if a quoted cell spans lines and text follows its closing
    quotation mark.
    """
    csv.field_size_limit(_LONGEST_CELL)
    lines = list(io.StringIO(source.text, newline=""))
    reader, row = csv.reader(lines, delimiter=separator), 1
    try:
        for cells in reader:
            if reader.line_num > row:
                list(
                    csv.reader(
                        lines[row - 1 : reader.line_num],
                        delimiter=separator,
                        strict=True,
                    )
                )
            if any(cells):
                yield row, cells
            row = reader.line_num + 1
    except csv.Error as error:
        raise GenieError(
            f"{source.name}, row {row:,}, which takes in {reader.line_num - row:,} more "
            f"lines: {error}. Close or delete the quotation mark that opens in "
            f"{lines[row - 1].strip()[:60]!r}.",
            code="not-csv",
        ) from error


def _of_objects(source: Source, found: Iterable[tuple[int, Any]]) -> Table:
    problems: list[Problem] = []
    kept: list[tuple[int, dict[str, Any]]] = []
    for row, value in found:
        if isinstance(value, dict):
            kept.append((row, value))
        else:
            sentence = "is not an object with the names of the columns."
            problems.append(Problem(source.name, row, "", sentence))
    header = list(dict.fromkeys(key for _, value in kept for key in value))
    lists = [(row, [_word(value.get(key)) for key in header]) for row, value in kept]
    return _made(source.name, header, lists, problems)


def _word(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        # Parquet may contain characters that a database cannot store
        return value.replace("\0", "\ufffd")
    if isinstance(value, list | dict | bool | int | float):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _made(
    name: str,
    header: Sequence[str],
    numbered: Sequence[tuple[int, Sequence[str]]],
    problems: list[Problem],
) -> Table:
    import pandas as pd

    if not numbered or not header:
        raise GenieError(f"{name} has no rows.", code="no-rows")
    if len(set(header)) < len(header):
        twice = next(one for one in header if list(header).count(one) > 1)
        raise GenieError(
            f"{name} has two columns {twice!r}: rename one.", code="not-csv"
        )
    columns = zip(*(cells for _, cells in numbered), strict=True)
    words = pd.DataFrame(
        {
            key: pd.Series(cells, dtype="object")
            for key, cells in zip(header, columns, strict=True)
        }
    )
    rows = np.array([row for row, _ in numbered], dtype=np.int64)
    return Table(name, words, rows, problems)


def _parquet(source: Source, limit: int = -1) -> tuple[list[str], list[list[str]]]:
    with tempfile.TemporaryDirectory(prefix="genie-import-") as folder:
        path = Path(folder) / "table.parquet"
        path.write_bytes(source.data)
        with engine() as connection:
            import duckdb

            try:
                rows = connection.read_parquet(str(path))
                found = rows.limit(limit).fetchall() if limit >= 0 else rows.fetchall()
                return rows.columns, [[_word(cell) for cell in row] for row in found]
            except duckdb.Error as error:
                first = str(error).splitlines()[0]
                raise GenieError(
                    f"{source.name}: {first}", code="damaged-file"
                ) from error


def _parquet_head(source: Source) -> tuple[list[str], list[list[str]]]:
    try:
        return _parquet(source, limit=20)
    except GenieError:
        return [], []


def extra_of(table: Table, taken: Iterable[str]) -> tuple[pd.DataFrame, list[Problem]]:
    """Return the unused columns without personal ones, and a problem for each such."""
    left = [name for name in table.header if name not in set(taken)]
    personal = [name for name in left if is_personal(name, table.words[name])]
    sentence = "says who somebody is and was not taken."
    problems = [
        Problem(table.name, 0, name, sentence, fatal=False) for name in personal
    ]
    return table.words[[name for name in left if name not in personal]], problems


def is_personal(name: str, words: pd.Series) -> bool:
    """Check whether a column has names, addresses, places or numbers of people."""
    if plain(name) in PERSONAL:
        return True
    import pandas as pd

    unique = pd.Series(words.unique(), dtype="object").astype(str).str.strip()
    return bool(unique.str.fullmatch(_PERSON).any())


def number_problems(
    table: Table,
    name: str,
    values: npt.NDArray[np.float64],
    nothing: npt.NDArray[np.bool_],
) -> list[Problem]:
    """Return problems for cells of a column that are neither a number nor empty."""
    bad = np.flatnonzero(np.isnan(values) & ~nothing)
    words = table.words[name].to_numpy()
    return [
        Problem(
            table.name, int(table.rows[i]), name,
            f"{words[i][:40]!r} is not a number; correct it, or leave the cell empty.",
        )
        for i in bad
    ]  # fmt: skip


def rows_of_head(source: Source, header: Sequence[str]) -> list[dict[str, str]]:
    """Return the first rows of a table from its beginning, by column."""
    if source.ending == "parquet" or source.data[:4] == _PARQUET:
        rows = _parquet_head(source)[1]
        return [dict(zip(header, row, strict=False)) for row in rows]
    if source.ending in SEPARATED:
        text = source.head
        try:
            lines = list(csv.reader(io.StringIO(text), delimiter=separator_of(text)))
        except csv.Error:
            return []
        # the last may be cut off
        some = lines[1:-1] or lines[1:]
        return [dict(zip(header, row, strict=False)) for row in some[:200]]
    return _objects_of_head(source.head)


def _objects_of_head(text: str, most: int = 200) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    start = text.lstrip().removeprefix("[")
    while start and len(found) < most:
        try:
            value, end = json.JSONDecoder().raw_decode(start.lstrip(", \r\n\t"))
        except (ValueError, RecursionError):
            break
        start = start.lstrip(", \r\n\t")[end:]
        if isinstance(value, dict):
            found.append({key: _word(cell) for key, cell in value.items()})
    return found
