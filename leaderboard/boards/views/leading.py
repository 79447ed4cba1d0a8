"""The board on the front page: the leaders of the task with the newest result."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from leaderboard.boards.selectors.home import newest_board
from leaderboard.boards.selectors.rows import Row
from leaderboard.boards.selectors.standings import Standings, standings
from leaderboard.boards.selectors.version import KEPT_FROM_ROWS, KEPT_SECONDS, version
from leaderboard.charts.axis import Axis, axis_over
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task

N_LEADERS = 8


@dataclass(frozen=True)
class Leaders:
    """The first rows of a task's board, fetched when a template uses them."""

    task: Task

    @cached_property
    def standings(self) -> Standings:
        return standings(self.task)

    @cached_property
    def rows(self) -> list[Row]:
        # the best come first, so that unranked ones are behind them
        first = self.standings[: min(N_LEADERS, self.standings.n_ranked)]
        return [row for row in first if row.human]

    @property
    def leader_low(self) -> float | None:
        return self.standings.extent.leader_low if self.standings.extent else None

    @cached_property
    def axis(self) -> Axis:
        drawn = [row.human for row in self.rows if row.human]
        return axis_over(min(one.low for one in drawn), max(one.high for one in drawn))


def leading() -> dict[str, Any]:
    """Return the newest result's board; long boards have a cache key."""
    task = newest_board()
    if task is None:
        return {"leading": None}
    shown = Submission.objects.filter(public(), task=task)
    is_long = shown.count() >= KEPT_FROM_ROWS
    return {
        "leading": task,
        "board": Leaders(task),
        "leading_seconds": KEPT_SECONDS if is_long else 0,
        "leading_version": version(task) if is_long else "",
    }
