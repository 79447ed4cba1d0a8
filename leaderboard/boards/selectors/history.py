"""The history of a board: its leaders and their scores over time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.pairs import compare_systems
from leaderboard.boards.selectors.version import KEPT_SECONDS, state
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.ranked_scores import is_ranked
from leaderboard.stats.systems.ranks import ALPHA, Ranking
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task


@dataclass(frozen=True)
class Published:
    """A published result; its fields are named as in `Score`, so that it can be drawn."""

    pk: int
    system: str
    simulated: bool
    at: datetime
    mean: float
    low: float
    high: float
    low_50: float
    high_50: float
    n: int
    of: int
    ranks_partial: bool
    provisional: bool
    entry: str


@dataclass(frozen=True)
class Lead:
    """A result that was the best when it was published.

    `gain` is its distance to the previous leader; `sure` whether the board's present
    comparisons place it above that one.
    """

    result: Published
    gain: float | None
    sure: bool


@dataclass(frozen=True)
class History:
    results: list[Published]
    leads: list[Lead]


def history(task: Task) -> History:
    """Return a board's history by the current scores, computed once per version.

    Partial scores are results; they lead only if staff have them ranked.
    """
    key = state(task).key("history")
    return computed_once(key, lambda: _history(task), KEPT_SECONDS)


def _history(task: Task) -> History:
    # today's scores at the dates of publication: recomputed scores appear with their
    # present value, not with the one that led
    rows = (
        Score.objects.filter(
            public("submission__"),
            submission__task=task,
            submission__published_at__isnull=False,
            criterion=main_criterion(task),
            superseded_at=None,
        )
        .order_by("submission__published_at", "submission_id")
        .values_list(
            "submission_id",
            "submission__system_name",
            "submission__simulated",
            "submission__published_at",
            "mean",
            "low",
            "high",
            "low_50",
            "high_50",
            "n",
            "evaluation__n_instances",
            "evaluation__ranks_partial",
            "provisional",
            "submission__entry",
        )
    )
    results = [Published(*cast("tuple[Any, ...]", row)) for row in rows]
    ranked = [
        one
        for one in results
        if is_ranked(
            one.n,
            one.of,
            ranks_partial=one.ranks_partial,
            provisional=one.provisional,
            entry=one.entry,
        )
    ]
    found = compare_systems(task)
    return History(results, _leads(ranked, found[1] if found else None))


def _leads(results: list[Published], ranking: Ranking | None) -> list[Lead]:
    leads: list[Lead] = []
    for result in results:
        best = leads[-1].result if leads else None
        if best is None:
            leads.append(Lead(result, None, sure=True))
        elif result.mean > best.mean:
            # of the printed numbers, so that a reader's subtraction agrees
            gain = round(result.mean, 1) - round(best.mean, 1)
            leads.append(Lead(result, gain, sure=_above(ranking, result, best)))
    return leads


def _above(ranking: Ranking | None, result: Published, best: Published) -> bool:
    names = str(result.pk), str(best.pk)
    if ranking is None or not set(names) <= set(ranking.systems):
        return False
    return ranking.p_value(*names) <= ALPHA
