"""A team's attempts on a task, and the correction of its best score for them."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from django.db.models import Count, Exists, Max, OuterRef, Q, Subquery
from django.utils import timezone

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.stats.multiplicity import widening
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task

State = Submission.State
# An unusable file discloses no score, so it is no attempt.
_NO_ATTEMPT = Q(state__in=[State.RECEIVED, State.INVALID])
# The range of scores from 0 to 100.
_LEAST, _MOST = 0.0, 100.0
# A team, and whether its systems are rated by programs: these are counted separately.
Key = tuple[int, bool]


@dataclass(frozen=True)
class Attempts:
    """A team's attempts on a task, including private and withdrawn ones."""

    n: int
    # of these, how many have ever had a score
    n_rated: int
    # the best public score under the team's name: any other would disclose an anonymous
    # system
    best: float | None
    # the interval of the best of several, corrected for the choice
    low: float | None = None
    high: float | None = None

    def chosen(self, mean: float | None) -> bool:
        return self.n_rated > 1 and mean is not None and mean == self.best

    @property
    def is_best(self) -> bool:
        return self.low is not None


def attempts(task: Task, teams: Collection[int]) -> dict[Key, Attempts]:
    own = Score.objects.filter(submission=OuterRef("pk"))
    current = own.filter(superseded_at=None, criterion=main_criterion(task))
    today = timezone.localdate()
    named = Q(anonymous_until=None) | Q(anonymous_until__lte=today)
    rows = (
        Submission.objects.filter(task=task, team__in=teams)
        .alias(rated=Exists(own), mean=Subquery(current.values("mean")[:1]))
        .order_by()
        .values_list("team", "simulated")
        .annotate(
            n=Count("pk", filter=~_NO_ATTEMPT),
            n_rated=Count("pk", filter=Q(rated=True)),
            best=Max("mean", filter=public() & Q(published_at__isnull=False) & named),
        )
    )
    return {(team, simulated): Attempts(*found) for team, simulated, *found in rows}


def attempts_of(submission: Submission, score: Score | None) -> Attempts:
    team = submission.team_id
    found = attempts(submission.task, [team])[team, submission.simulated]
    if score is None or not found.chosen(score.mean):
        return found
    low, high = _corrected(score, found.n_rated)
    return replace(found, low=low, high=high)


def _corrected(score: Score, n: int) -> tuple[float, float]:
    factor = widening(n)
    low = score.mean - factor * (score.mean - score.low)
    high = score.mean + factor * (score.high - score.mean)
    return (
        low if score.low < _LEAST else max(low, _LEAST),
        high if score.high > _MOST else min(high, _MOST),
    )
