"""Tasks as cards: the best systems, each task with its own axis."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import SimpleLazyObject

from leaderboard.boards.selectors.home import TaskCard, task_cards
from leaderboard.boards.selectors.version import KEPT_SECONDS, of_all_boards
from leaderboard.charts.axis import Axis, axis_over
from leaderboard.tasks.models import Task


@dataclass(frozen=True)
class Card:
    data: TaskCard
    axis: Axis | None


def cards(tasks: Iterable[Task], *, many: bool) -> dict[str, Any]:
    """Return the tasks' cards, created lazily; `many` of them have a cache key."""
    made = SimpleLazyObject(lambda: [Card(c, _axis(c)) for c in task_cards(tasks)])
    return {
        "cards": made,
        "keep_seconds": KEPT_SECONDS if many else 0,
        "version": of_all_boards() if many else "",
    }


def _axis(card: TaskCard) -> Axis | None:
    if not card.best:
        return None
    return axis_over(
        min(score.low for score in card.best), max(score.high for score in card.best)
    )
