"""Records as CSV that spreadsheets open without executing formulas."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence

Cell = str | int | float | bool | None
# A cell that begins like this would be a formula; the wide signs in some languages'
# spreadsheets.
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


def looks_like_formula(text: str) -> bool:
    return text.startswith(_FORMULA)


def csv_text(columns: Sequence[str], records: Iterable[Mapping[str, Cell]]) -> str:
    """Return records with a header line; texts that look like formulas get a quote."""
    return "".join(csv_lines(columns, records))


def csv_lines(
    columns: Sequence[str], records: Iterable[Mapping[str, Cell]]
) -> Iterator[str]:
    """Yield the same text record by record, the header first."""
    # With this ending the writer quotes both of its characters; a reader takes either
    # alone for the end of a line.
    line = csv.writer(_Echo(), lineterminator="\r\n").writerow
    yield line(columns).removesuffix("\r\n") + "\n"
    for record in records:
        cells = [_cell(record.get(column)) for column in columns]
        yield line(cells).removesuffix("\r\n") + "\n"


class _Echo:
    def write(self, line: str) -> str:
        return line


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # numbers are unchanged: a negative one is no formula
        return f"'{value}" if looks_like_formula(value) else value
    # repr gives the shortest digits that read back to the same number
    return repr(value)
