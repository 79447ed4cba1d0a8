"""Recomputed tables as text: paper, ours, tolerance and verdict of every cell."""

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from genie_research.papers.table import Table
from leaderboard.papers.figures import Cell, Verdict, format_value, print_value

_HEADINGS = ("", "", "paper", "ours", "tolerance", "verdict")
_WIDTH = 100


def table_text(table: Table | type[Table], cells: Sequence[Cell]) -> str:
    """Return one table as text, with each reason once below it, by number."""
    reasons = list(dict.fromkeys(cell.why for cell in cells if cell.why))
    last = "also" if any(cell.also for cell in cells) else ""
    rows = [(*_HEADINGS, last), *(_columns(cell, reasons) for cell in cells)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADINGS))]
    lines = [
        f"{table.slug}: {table.paper}",
        *textwrap.wrap(
            table.title, _WIDTH, initial_indent="  ", subsequent_indent="  "
        ),
    ]
    for row in rows:
        left = [row[i].ljust(widths[i]) for i in (0, 1)]
        right = [row[i].rjust(widths[i]) for i in (2, 3, 4)]
        verdict = row[5].ljust(widths[5])
        lines.append("  ".join([*left, *right, verdict, row[6]]).rstrip())
    for number, reason in enumerate(reasons, 1):
        lines += textwrap.wrap(
            f"[{number}] {reason}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="      ",
        )
    return "\n".join(lines)


def summary(cells: Sequence[Cell]) -> str:
    counts = Counter(cell.verdict for cell in cells)
    verdicts = [f"{counts[v]} {v.value}" for v in Verdict if counts[v]]
    return f"{len(cells)} cells: {', '.join(verdicts)}" if verdicts else "no cells"


@dataclass(frozen=True)
class Done:
    """The time of a table, and the process's largest memory so far in MB."""

    table: str
    cells: Sequence[Cell]
    seconds: float
    megabytes: float

    def counts(self) -> dict[str, int | float | str]:
        """Count the cells, those with a published number, and the verdicts."""
        verdicts = Counter(cell.verdict for cell in self.cells)
        with_number = [cell for cell in self.cells if cell.paper is not None]
        return {
            "table": self.table,
            "cells": len(self.cells),
            "published": sum(cell.source == "published" for cell in with_number),
            "holding": verdicts[Verdict.HOLDS],
            "not met": verdicts[Verdict.NOT_MET],
            "no data": sum(cell.verdict is Verdict.NO_DATA for cell in with_number),
            "failing": verdicts[Verdict.FAILS],
            "seconds": round(self.seconds, 1),
            "MB": round(self.megabytes),
        }


def closing_text(done: Sequence[Done]) -> str:
    """Return one line for each table: cells, verdicts, time and memory."""
    counted = [each.counts() for each in done]
    header = list(counted[0])
    rows = [header, *([str(value) for value in row.values()] for row in counted)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [row[i].rjust(widths[i]) for i in range(1, len(header))]
        )
        for row in rows
    )


def _columns(cell: Cell, reasons: list[str]) -> tuple[str, ...]:
    verdict = cell.verdict.value
    if cell.why:
        verdict += f" [{reasons.index(cell.why) + 1}]"
    also = ", ".join(f"{name} {_figure(v, cell)}" for name, v in cell.also.items())
    return (
        cell.row,
        cell.column,
        "" if cell.paper is None else print_value(cell.paper),
        "" if cell.ours is None else format_value(cell.ours, cell.digits),
        _tolerance(cell),
        verdict,
        also,
    )


def _figure(value: float, cell: Cell) -> str:
    # chances are beside percentages of labels: small numbers need their digits
    if value and abs(value) < 1:
        return f"{value:.3g}"
    return format_value(value, cell.digits)


def _tolerance(cell: Cell) -> str:
    if cell.accepted_range is None or cell.paper is None:
        return ""
    if isinstance(cell.tolerance, float | int):
        return f"± {cell.tolerance:.3g}"
    low, high = cell.accepted_range
    if math.isinf(high):
        return "at least ours"
    if math.isinf(low):
        return "at most ours"
    return f"{format_value(low, cell.digits)} to {format_value(high, cell.digits)}"
