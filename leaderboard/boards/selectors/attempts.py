"""How often a team has tried a task, and what that makes of its best score."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, Max, OuterRef, Q

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.stats.selection import widening
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task

State = Submission.State
# Of an unusable file nobody learns how good a system is.
_NO_ATTEMPT = (State.RECEIVED, State.INVALID)
# What a score cannot leave, where it is one from 0 to 100.
_LEAST, _MOST = 0.0, 100.0


@dataclass(frozen=True)
class Attempts:
    """A team's attempts on a task, private and withdrawn ones among them."""

    n: int
    # of these, how many have ever had a score
    n_rated: int
    # whether this one is the best of several, and its interval allowing for that
    is_best: bool
    low: float | None = None
    high: float | None = None


def best_of(task: Task, teams: Collection[int]) -> dict[int, tuple[int, float]]:
    """Give the teams with several rated attempts, how many, and their best public score."""
    submissions = Submission.objects.filter(_rated(), task=task, team__in=teams)
    rated = submissions.order_by().values_list("team").annotate(n=Count("pk"))
    several = {team: n for team, n in rated if n > 1}
    if not several:
        return {}
    best = (
        Score.objects.filter(
            public("submission__"),
            submission__published_at__isnull=False,
            submission__task=task,
            submission__team__in=several,
            superseded_at=None,
            criterion=main_criterion(task),
        )
        .order_by()
        .values_list("submission__team")
        .annotate(mean=Max("mean"))
    )
    return {team: (several[team], mean) for team, mean in best}


def attempts_of(submission: Submission, score: Score | None) -> Attempts:
    """Count the attempts of a submission's team, and correct its best score."""
    task, team = submission.task, submission.team_id
    tried = Submission.objects.filter(task=task, team=team)
    n = tried.exclude(state__in=_NO_ATTEMPT).count()
    rated, best = best_of(task, [team]).get(team, (0, 0.0))
    if score is None or not rated or score.mean < best:
        n_rated = rated or tried.filter(_rated()).count()
        return Attempts(n, n_rated, is_best=False)
    return Attempts(n, rated, True, *_corrected(score, rated))


def _rated() -> Q:
    return Q(Exists(Score.objects.filter(submission=OuterRef("pk"))))


def _corrected(score: Score, n: int) -> tuple[float, float]:
    factor = widening(n)
    low = score.mean - factor * (score.mean - score.low)
    high = score.mean + factor * (score.high - score.mean)
    return (
        low if score.low < _LEAST else max(low, _LEAST),
        high if score.high > _MOST else min(high, _MOST),
    )
