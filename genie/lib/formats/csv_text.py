"""Records as CSV that spreadsheets open without running anything."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence

Cell = str | int | float | bool | None
# A cell that begins so would be a formula, the wide signs in some languages' spreadsheets.
_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
)


def csv_text(columns: Sequence[str], records: Sequence[Mapping[str, Cell]]) -> str:
    """Write records with a header line; texts that look like formulas get a quote."""
    lines = _Lines()
    # Under this ending the writer quotes both of its signs; a reader takes either alone
    # for the end of a line.
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(columns)
    for record in records:
        writer.writerow([_cell(record.get(column)) for column in columns])
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


class _Lines(list[str]):
    """What a writer of CSV writes, a record each."""

    def write(self, line: str) -> None:
        self.append(line)


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # numbers are not touched: a negative one is no formula
        return f"'{value}" if value.startswith(_FORMULA) else value
    # repr gives the shortest digits that read back to the same number
    return repr(value)
