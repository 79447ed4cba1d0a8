"""Sheets as plain text."""

import textwrap
from collections.abc import Sequence

from leaderboard.table_stats.report import Sheet

_WIDTH = 100


def as_text(sheets: Sequence[Sheet]) -> str:
    """Return sheets below each other."""
    return "\n".join(_sheet(sheet) for sheet in sheets)


def _sheet(sheet: Sheet) -> str:
    table = [sheet.header, *sheet.rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(sheet.header))]
    # columns of words are left-aligned, numbers right-aligned; the first rows decide
    words = [
        any(cell[:1] not in "-.<[0123456789" for cell in column)
        for column in zip(*sheet.rows, strict=True)
    ]
    lines = [sheet.title]
    for number, row in enumerate(table):
        if number - 1 in sheet.rules:
            lines.append("  " + "-" * (sum(widths) + 2 * len(widths) - 2))
        cells = [
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, words, strict=True)
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    for note in sheet.notes:
        lines += textwrap.wrap(
            note, _WIDTH, initial_indent="  ", subsequent_indent="  "
        )
    return "\n".join(lines) + "\n"
