"""A task's published numbers, each compared with ours."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.imports.models import PublishedFigure
from leaderboard.papers.figures import Cell, Computed, Printed, compare_figures, plain
from leaderboard.papers.task_figures.computed import figures_of
from leaderboard.tasks.models import Task

COLUMNS = (
    *("table", "row", "column", "figure", "published", "ours", "tolerance"),
    *("verdict", "why"),
)


@dataclass(frozen=True)
class Beside:
    table: str
    figure: str
    cell: Cell

    def record(self) -> dict[str, Any]:
        cell = self.cell.to_dict()
        values = (
            *(self.table, cell["row"], cell["column"], self.figure),
            *(cell["paper"], cell["ours"], self.cell.tolerance),
            *(cell["verdict"], cell["why"]),
        )
        return dict(zip(COLUMNS, values, strict=True))


def beside(task: Task) -> list[Beside]:
    rows = list(task.published_figures.all())
    ours = figures_of(task, {set_of(row) for row in rows}) if rows else {}
    return [
        Beside(row.table, row.figure, cell)
        for row, cell in zip(rows, cells_of(rows, ours), strict=True)
    ]


def set_of(row: PublishedFigure) -> str:
    """Return the set of a figure: `da` of `da-wins`."""
    return row.figure.partition("-")[0]


def id_of(row: PublishedFigure) -> str:
    """Return the figure's id within its set."""
    name = row.figure.partition("-")[2]
    return f"{row.row}/{name}" if row.row else name


def cells_of(rows: list[PublishedFigure], ours: Mapping[str, Computed]) -> list[Cell]:
    cells = []
    for row in rows:
        printed = Printed(id_of(row), plain(row.value), row.tolerance, why=row.why)
        [cell] = compare_figures([printed], ours.get(set_of(row), {}))
        cells.append(replace(cell, row=row.row, column=row.column))
    return cells
