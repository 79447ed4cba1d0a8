"""CSV and TSV files as spreadsheets and programs write them."""

import csv
import io
from collections.abc import Iterator
from typing import Literal

from leaderboard.tasks.intake.problem import FileProblem, Unreadable
from leaderboard.tasks.intake.table import Limits

Grid = Iterator[tuple[str, list[str]]]
_SEPARATORS = (",", ";", "\t", "|")


def cells_of(text: str, file: str, limits: Limits) -> Grid:
    r"""Yield rows with their place; the header decides the separator.

    Yields
    ------
    tuple of str and list of str
        Place in words, and cells. Rows are numbered as in a spreadsheet.

    Raises
    ------
    Unreadable
        ``bad-csv`` or ``too-large``.

    Examples
    --------
    >>> list(cells_of("id;a\n1;x\n", "a.csv", Limits()))
    [('row 1', ['id', 'a']), ('row 2', ['1', 'x'])]
    """
    csv.field_size_limit(limits.n_characters * 4)
    separator = _separator(text, file)
    try:
        rows = _parsed(text, file, separator, limits)
    except Unreadable:
        # In a file with tabs, a quotation mark is mostly just that character.
        if separator != "\t":
            raise
        rows = _parsed(text, file, separator, limits, quoting=csv.QUOTE_NONE)
    for number, cells in enumerate(rows, start=1):
        if any(cell.strip() for cell in cells):
            yield f"row {number:,}", cells


def _parsed(
    text: str,
    file: str,
    separator: str,
    limits: Limits,
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL,
) -> list[list[str]]:
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quoting=quoting,
        strict=True,
    )
    rows: list[list[str]] = []
    try:
        rows.extend(reader)
    except csv.Error as error:
        raise _broken(error, file, len(rows) + 1, limits) from None
    return rows


def _separator(text: str, file: str) -> str:
    if file.lower().endswith((".tsv", ".tab")):
        return "\t"
    header = text.lstrip("\n").partition("\n")[0]
    # Separators within quotation marks do not count.
    outside = "".join(header.split('"')[::2])
    return max(_SEPARATORS, key=outside.count) if outside else ","


def _broken(error: csv.Error, file: str, number: int, limits: Limits) -> Unreadable:
    place = f"row {number:,}"
    if "field larger" in str(error):
        return Unreadable(
            FileProblem(
                "too-large",
                f"a cell has more than {limits.n_characters:,} characters, or a "
                "quotation mark was never closed",
                file,
                place,
            )
        )
    return Unreadable(
        FileProblem(
            "bad-csv",
            "a quotation mark is not closed, or text follows a closed one; write "
            'a quotation mark within a cell twice ("")',
            file,
            place,
        )
    )
