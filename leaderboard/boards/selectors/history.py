"""The history of a board: its leaders and their scores over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.pairs import compare_systems
from leaderboard.boards.selectors.version import state
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.ranked_scores import ranked
from leaderboard.stats.systems.ranks import ALPHA
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
    provisional: bool


@dataclass(frozen=True)
class Lead:
    """A result that was the best when it was published.

    `gain` is its distance to the previous leader; `sure` whether the board's present
    comparisons place it above that one.
    """

    result: Published
    gain: float | None
    sure: bool


def results_of(task: Task) -> QuerySet[Score, tuple[Any, ...]]:
    """Return the fields of `Published`, in the order of publication.

    Partial scores are results; they lead only if staff have them ranked. Scores are
    today's: recomputed ones appear with their present value, not with the one that led.
    """
    return _scores(task).values_list(
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
        "provisional",
    )


def _scores(task: Task) -> QuerySet[Score]:
    return Score.objects.filter(
        public("submission__"),
        submission__task=task,
        submission__published_at__isnull=False,
        criterion=main_criterion(task),
        superseded_at=None,
    ).order_by("submission__published_at", "submission_id")


def gains(task: Task) -> dict[int, tuple[float | None, bool]]:
    """Return each result that led, oldest first, with its gain and whether it is sure."""
    return state(task).compute_once(lambda: _gains(task), "gains")


def _gains(task: Task) -> dict[int, tuple[float | None, bool]]:
    found = compare_systems(task)
    ranking = found[1] if found else None
    known = {*ranking.systems} if ranking else set()
    leads: dict[int, tuple[float | None, bool]] = {}
    leader, best = 0, 0.0
    for pk, mean in _scores(task).filter(ranked()).values_list("submission_id", "mean"):
        both = f"{pk}", f"{leader}"
        if not leads:
            leads[pk] = None, True
        elif mean > best:
            sure = (
                ranking and known.issuperset(both) and ranking.p_value(*both) <= ALPHA
            )
            # of the printed numbers, so that a reader's subtraction agrees
            leads[pk] = round(mean, 1) - round(best, 1), bool(sure)
        if pk in leads:
            leader, best = pk, mean
    return leads


def newest_leads(task: Task, n: int) -> list[Lead]:
    """Return the newest leads, newest last."""
    newest = dict([*gains(task).items()][-n:])
    found = read_results(results_of(task).filter(submission__in=newest))
    return [Lead(one, *newest[one.pk]) for one in found]


def read_results(rows: Sequence[Any] | QuerySet[Any, Any]) -> list[Published]:
    return [Published(*row) for row in rows]
