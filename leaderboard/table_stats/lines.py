"""Files of lines, and what is wrong with them, line by line."""

from __future__ import annotations

import csv
import gzip
import io
import math
from pathlib import Path
from typing import TextIO

from genie.lib.errors import GenieError
from leaderboard.table_stats.layouts import KEPT, Layout


def open_text(path: Path) -> TextIO:
    """Open a text file, packed or not."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if packed:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def all_bytes(path: Path) -> bytes:
    """Read a file, packed or not."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def is_even(data: bytes, mark: str, n_rows: int) -> bool:
    """Tell whether all lines have as many fields as the first; pandas cuts longer ones."""
    sign = mark.encode()
    if b'"' in data:
        rows = csv.reader(io.StringIO(data.decode("utf-8-sig")), delimiter=mark)
        return len({len(row) for row in rows if row}) == 1
    header = data.lstrip().split(b"\n", 1)[0]
    return data.count(sign) == header.count(sign) * (n_rows + 1)


def complain(path: Path, mark: str, layout: Layout) -> None:
    """Go through a file line by line to say what is wrong with it.

    Raises
    ------
    GenieError
        With the line and the column of the first thing wrong; none where all is well.
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
    """Say what is wrong with a line; nothing where all is well."""
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
