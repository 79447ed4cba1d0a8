"""A task's metric boards as rows of a table for download."""

from collections.abc import Iterator
from typing import Any

from leaderboard.metric_board.selectors.inputs import criteria_of
from leaderboard.metric_board.selectors.snapshot import (
    STATISTICS,
    Cell,
    Shown,
    shown_board,
)
from leaderboard.tasks.models import Task

COLUMNS = (
    "criterion",
    "of",
    "metric",
    "label",
    "level",
    "statistic",
    "value",
    "low",
    "high",
    "n_systems",
    "n_raters",
    "simulated",
    "licence",
)


def agreement_rows(task: Task) -> Iterator[dict[str, Any]]:
    """Yield a row per statistic of each metric, and of a single person."""
    for criterion in criteria_of(task):
        yield from _of_board(criterion, shown_board(task, criterion))


def _of_board(criterion: str, shown: Shown) -> Iterator[dict[str, Any]]:
    if shown.board is None:
        return
    head = {"criterion": criterion, "simulated": shown.board.simulated}
    for line in shown.lines:
        metric = {"of": "metric", "metric": line.slug, "label": line.label}
        counts = {"n_systems": line.n_systems, "n_raters": None}
        metric["licence"] = line.licence
        for row in _of_cells(line.cells):
            yield {**head, **metric, **counts, **row}
    if (person := shown.person) is not None:
        one = {"of": "person", "metric": "", "label": "one person against the others"}
        one["licence"] = ""
        counts = {"n_systems": shown.n_systems, "n_raters": person.n_raters}
        for row in _of_cells(person.cells):
            yield {**head, **one, **counts, **row}


def _of_cells(cells: dict[str, Cell]) -> Iterator[dict[str, Any]]:
    for slug, statistic in STATISTICS.items():
        if slug in cells:
            cell = cells[slug]
            yield {
                "level": statistic.level,
                "statistic": slug,
                "value": cell.value,
                "low": cell.low,
                "high": cell.high,
            }
