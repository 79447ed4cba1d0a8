"""A board as a plain table, the source of all exports."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from leaderboard.boards.selectors.judged import JUDGED_HELP, Judged
from leaderboard.boards.selectors.rows import Human, Row
from leaderboard.boards.selectors.version import State
from leaderboard.evaluation.selectors.judged import who_ranks
from leaderboard.tasks.config import PLAIN
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors import note_of

Cell = str | int | float | bool | None
# columns beside each criterion's mean
_BESIDE = ("low", "high", "n", "of", "n_workers", "covers", "signature", "provisional")
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
    def judged(self) -> list[str]:
        return [n for n in self.criteria if any(n in row.judged for row in self.rows)]

    @property
    def note(self) -> str:
        return note_of(self.task)

    @property
    def reason(self) -> str:
        return "" if self.rows else "No submission on this board matches the request."


def records(table: BoardTable) -> list[dict[str, Cell]]:
    return [_record(table, row) for row in table.rows]


def nested(table: BoardTable) -> Iterable[dict[str, Any]]:
    for row in table.rows:
        yield {
            **_head(table, row),
            "scores": {
                name: _score(row.criteria[name])
                for name in table.criteria
                if name in row.criteria and row.human
            },
            "with_judges": {
                name: asdict(row.judged[name])
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
        human = row.criteria.get(name) if row.human else None
        record[f"human_{name}"] = human.mean if human else None
        for part in _BESIDE:
            record[f"human_{name}_{part}"] = getattr(human, part) if human else None
        plain = human.estimates.get(PLAIN, {}) if human else {}
        for part in _PLAIN:
            record[f"human_{name}_plain_{part}"] = plain.get(part)
    for name in table.judged:
        record |= _judged(name, row.judged.get(name))
    for name in table.metrics:
        record[name] = row.metrics.get(name)
    return record


def with_judges(table: BoardTable) -> list[str]:
    return [f"{name}, with judges" for name in table.judged]


def helped(row: Row, criterion: str) -> str:
    one = row.judged.get(criterion)
    if one is None:
        return ""
    return f"{one.helped.mean:.1f} [{one.helped.low:.1f}, {one.helped.high:.1f}]"


def judges_note(table: BoardTable) -> str:
    if not table.judged:
        return ""
    saved = [
        f"{row.system} {row.judged[name].saved}"
        for name in table.judged
        for row in table.rows
        if name in row.judged
    ]
    return (
        f"With judges: {', '.join(table.judges)}. {JUDGED_HELP} Labels saved: "
        f"{', '.join(saved)}. {who_ranks(table.task)}"
    )


def judged_columns(name: str) -> list[str]:
    return [f"with_judges_{name}_{part}" for part in _JUDGED]


def _judged(name: str, judged: Judged | None) -> dict[str, Cell]:
    columns = judged_columns(name)
    if judged is None:
        return dict.fromkeys(columns)
    ends = [
        getattr(ends, part) for ends in (judged.helped, judged.plain) for part in _PLAIN
    ]
    counts = (judged.labels_saved, judged.n_people, judged.n_judge)
    values = (*ends, *counts, ", ".join(judged.judges))
    return dict(zip(columns, values, strict=True))


def _head(table: BoardTable, row: Row) -> dict[str, Cell]:
    return {
        "rank_first": row.rank_first,
        "rank_last": row.rank_last,
        "system": row.system,
        "team": row.team.name if row.team else None,
        "submission": row.pk,
        "url": table.page.format(row.pk),
        "handed_in": row.submitted_at.date().isoformat(),
        "simulated": row.simulated,
        "imported": row.imported,
        "judged": row.pending.n if row.pending else None,
        "to_judge": row.pending.of if row.pending else None,
        "partial": str(row.partial) if row.partial else None,
        "cluster": row.cluster,
        "baseline": row.baseline or None,
    }


def _score(human: Human) -> dict[str, Cell]:
    return {key: value for key, value in asdict(human).items() if key != "criterion"}
