"""Tasks as cards: the best systems on an axis of the task's own."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.boards.selectors.home import TaskCard
from leaderboard.charts.axis import Axis, axis_over


@dataclass(frozen=True)
class Card:
    """A task's card with the axis on which its best systems stand."""

    data: TaskCard
    axis: Axis | None


def cards(task_cards: list[TaskCard]) -> list[Card]:
    return [Card(card, _axis(card)) for card in task_cards]


def _axis(card: TaskCard) -> Axis | None:
    if not card.best:
        return None
    return axis_over(
        min(score.low for score in card.best), max(score.high for score in card.best)
    )
