"""Tables as text files, read by columns, with errors found line by line."""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

from genie.lib.errors import GenieError
from leaderboard.table_stats.layouts import KEPT, Layout
from leaderboard.table_stats.parquet import put_together

if TYPE_CHECKING:
    import pandas as pd

# Bytes read at a time to count characters, and lines in memory at a time.
_BLOCK, _AT_ONCE = 1 << 20, 100_000


def open_text(path: Path) -> TextIO:
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="")


def open_bytes(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("BinaryIO", gzip.open(path)) if packed else path.open("rb")


def read_lines(
    path: Path, mark: str, words: Sequence[str], numbers: Sequence[str]
) -> pd.DataFrame:
    """Read columns: words as categories, empty ones missing; numbers as floats."""
    import pandas as pd

    # words stay strings: 01 and 1 are different names
    types: dict[str, Any] = dict.fromkeys(words, str) | dict.fromkeys(numbers, float)
    with (
        open_bytes(path) as file,
        pd.read_csv(
            file,
            encoding="utf-8-sig",
            sep=mark,
            usecols=list(types),
            dtype=types,
            keep_default_na=False,
            na_values=[""],
            chunksize=_AT_ONCE,
        ) as batches,
    ):
        ordered = (some[list(types)] for some in batches)
        return put_together(ordered, words, numbers)


def is_even(path: Path, mark: str, n_rows: int) -> bool:
    """Check that no line has more fields than the first, which pandas would cut."""
    sign, n, header = mark.encode(), 0, b""
    with open_bytes(path) as file:
        while block := file.read(_BLOCK):
            if b'"' in block:
                return _is_even_with_quotes(path, mark)
            if b"\n" not in header.lstrip():
                header += block
            n += block.count(sign)
    first = header.lstrip().split(b"\n", 1)[0]
    return n == first.count(sign) * (n_rows + 1)


def _is_even_with_quotes(path: Path, mark: str) -> bool:
    with open_text(path) as file:
        rows = csv.reader(file, delimiter=mark)
        return len({len(row) for row in rows if row}) == 1


def complain(path: Path, mark: str, layout: Layout) -> None:
    """Check a file line by line.

    Raises
    ------
    GenieError
        With line and column of the first error.
    """
    numbers, names = layout.numbers, layout.names
    with open_text(path) as file:
        rows = csv.reader(file, delimiter=mark)
        header = next(row for row in rows if row)
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise GenieError(
                    f"{path.name}, line {rows.line_num}, has {len(row)} fields where the "
                    f"header has {len(header)}.",
                    code="ragged-line",
                )
            cells = dict(zip(header, row, strict=True))
            if layout.keep and cells[layout.keep] not in KEPT[layout.keep.lower()]:
                continue
            if problem := problem_in(cells, numbers, names):
                raise GenieError(
                    f"{path.name}, line {rows.line_num}, {problem}", code="bad-cell"
                )


def problem_in(cells: dict[str, str], numbers: list[str], names: list[str]) -> str:
    """Return the problem in a line; empty if there is none."""
    for column in names:
        if not cells[column].strip():
            return f"column {column}: it is empty."
    for column in numbers:
        try:
            finite = math.isfinite(float(cells[column]))
        except ValueError:
            finite = False
        if not finite:
            what = repr(cells[column][:40]) if cells[column] else "an empty field"
            return f"column {column}: {what} is not a number."
    return ""
