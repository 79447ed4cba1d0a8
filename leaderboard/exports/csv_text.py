"""Records as CSV that spreadsheets open without running anything."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

Cell = str | int | float | bool | None
# A cell that begins so would be a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(columns: Sequence[str], records: Sequence[Mapping[str, Cell]]) -> str:
    """Write records with a header line; texts that look like formulas get a quote."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for record in records:
        writer.writerow([_cell(record.get(column)) for column in columns])
    return out.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return repr(value)
