"""A board as a plain table, the source of all exports."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from leaderboard.boards.selectors.judged import JUDGED_HELP, Judged
from leaderboard.boards.selectors.rows import Human, Row
from leaderboard.boards.selectors.version import State
from leaderboard.evaluation.result_columns import board_columns
from leaderboard.evaluation.selectors.board_ratings import who_ranks
from leaderboard.tasks.config import PLAIN
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors import note_of

Cell = str | int | float | bool | None
# this crowd's plain mean, as in papers
_PLAIN = ("mean", "low", "high")

# with judges' help, people alone, and the saving
_JUDGED = (
    *("mean", "low", "high", "plain_mean", "plain_low", "plain_high"),
    *("labels_saved", "n_people", "n_judge", "judges"),
)


@dataclass(frozen=True)
class BoardTable:
    """The public rows of a board and the request behind them.

    The ranking criterion is first. `state` is the board's when the rows were read, and
    `page` a submission's URL with "{}" for its id.
    """

    task: Task
    rows: tuple[Row, ...]
    criteria: tuple[str, ...]
    metrics: tuple[str, ...]
    at: datetime
    state: State
    address: str
    page: str

    @cached_property
    def judges(self) -> list[str]:
        found = {
            name
            for row in self.rows
            for one in row.judged.values()
            for name in one.judges
        }
        return sorted(found)

    @cached_property
    def helped_criteria(self) -> list[str]:
        return [n for n in self.criteria if any(n in row.judged for row in self.rows)]

    @property
    def note(self) -> str:
        return note_of(self.task)

    @property
    def reason(self) -> str:
        return "" if self.rows else "No submission on this board matches the request."


def records(table: BoardTable) -> list[dict[str, Cell]]:
    return [_record(table, row) for row in table.rows]


def nested_rows(table: BoardTable) -> Iterable[dict[str, Any]]:
    for row in table.rows:
        yield {
            **_head(table, row),
            "scores": {
                name: {
                    k: v
                    for k, v in vars(row.criteria[name]).items()
                    if k not in ("criterion", "inner")
                }
                for name in table.criteria
                if name in row.criteria and row.human
            },
            "with_judges": {
                name: {
                    **vars(one := row.judged[name]),
                    "helped": one.helped.flat("mean"),
                    "plain": one.plain.flat("mean"),
                }
                for name in table.criteria
                if name in row.judged
            },
            "metrics": {
                name: row.metrics[name] for name in table.metrics if name in row.metrics
            },
        }


def _record(table: BoardTable, row: Row) -> dict[str, Cell]:
    record = _head(table, row)
    for name in table.criteria:
        record |= _cells(name, row.criteria.get(name) if row.human else None)
    for name in table.helped_criteria:
        record |= _judged_cells(name, row.judged.get(name))
    for name in table.metrics:
        record[name] = row.metrics.get(name)
    return record


def with_judges(table: BoardTable) -> list[str]:
    return [f"{name}, with judges" for name in table.helped_criteria]


def helped_words(row: Row, criterion: str) -> str:
    one = row.judged.get(criterion)
    return "" if one is None else f"{one.helped:.1f}"


def judges_note(table: BoardTable) -> str:
    if not table.helped_criteria:
        return ""
    saved = [
        f"{row.system} {row.judged[name].saved}"
        for name in table.helped_criteria
        for row in table.rows
        if name in row.judged
    ]
    return (
        f"With judges: {', '.join(table.judges)}. {JUDGED_HELP} Labels saved: "
        f"{', '.join(saved)}. {who_ranks(table.task)}"
    )


def judged_columns(name: str) -> list[str]:
    return [f"with_judges_{name}_{part}" for part in _JUDGED]


def _judged_cells(name: str, judged: Judged | None) -> dict[str, Cell]:
    columns = judged_columns(name)
    if judged is None:
        return dict.fromkeys(columns)
    ends = (*judged.helped.flat().values(), *judged.plain.flat().values())
    counts = (judged.labels_saved, judged.n_people, judged.n_judge)
    return dict(zip(columns, (*ends, *counts, ", ".join(judged.judges)), strict=True))


def _cells(criterion: str, human: Human | None) -> dict[str, Cell]:
    cells: dict[str, Cell] = {}
    for column in board_columns("csv"):
        value = getattr(human, column.name, None)
        if column.name == "mean":
            cells[f"human_{criterion}"] = value
        elif column.name == "estimates":
            plain = (value or {}).get(PLAIN, {})
            for part in _PLAIN:
                cells[f"human_{criterion}_plain_{part}"] = plain.get(part)
        elif column.name != "criterion" and column.kind != "object":
            cells[f"human_{criterion}_{column.name}"] = value
    return cells


_HEAD: dict[str, Callable[[BoardTable, Row], Cell]] = {
    "rank_first": lambda _, row: row.rank_first,
    "rank_last": lambda _, row: row.rank_last,
    "system": lambda _, row: row.system,
    "team": lambda _, row: row.team.name if row.team else None,
    "submission": lambda _, row: row.pk,
    "url": lambda table, row: table.page.format(row.pk),
    "handed_in": lambda _, row: row.submitted_at.date().isoformat(),
    "simulated": lambda _, row: row.simulated,
    "imported": lambda _, row: row.imported,
    "judged": lambda _, row: row.pending.n if row.pending else None,
    "to_judge": lambda _, row: row.pending.of if row.pending else None,
    "partial": lambda _, row: str(row.partial) if row.partial else None,
    "cluster": lambda _, row: row.cluster,
    "baseline": lambda _, row: row.baseline or None,
}


def _head(table: BoardTable, row: Row) -> dict[str, Cell]:
    return {name: cell(table, row) for name, cell in _HEAD.items()}


def columns(table: BoardTable) -> list[str]:
    # not taken from the rows: an empty board has the same header
    scores = [column for name in table.criteria for column in _cells(name, None)]
    judged = [
        column for name in table.helped_criteria for column in judged_columns(name)
    ]
    return [*_HEAD, *scores, *judged, *table.metrics]
