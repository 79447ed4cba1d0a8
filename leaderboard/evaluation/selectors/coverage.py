"""Whether a score is made from enough of the planned instances.

Staff can stop an evaluation early. Its score is shown with its progress and ranked only
if staff decide so (`HumanEvaluation.ranks_partial`). A score that lost ratings of
excluded workers stays ranked and is provisional until they are collected again.
"""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import F, FloatField, Max, Q
from django.db.models.functions import Cast

from crowd.hits.models import Campaign
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score

State = Campaign.State
_VERB = {State.STOPPED: "stopped at", State.COMPLETE: "ended at"}


@dataclass(frozen=True)
class Partial:
    """A score from too few instances: `n` of the planned `of`."""

    n: int
    of: int
    # the campaign's: the reason for its end, or still asking
    state: str

    def __str__(self) -> str:
        count = f"{self.n:,} of {self.of:,}"
        verb = _VERB.get(State(self.state))
        return f"{verb} {count}" if verb else f"{count} so far"


def whole_share() -> float:
    """Return the share of its instances that a score needs to be ranked."""
    return float(settings.GENIE["WHOLE_SHARE"])


def is_whole(n: int, of: int) -> bool:
    return n >= whole_share() * of


def is_ranked(n: int, of: int, *, ranks_partial: bool, provisional: bool) -> bool:
    return ranks_partial or provisional or is_whole(n, of)


def ranked() -> Q:
    """Select the scores that are ranked.

    They are made from enough instances, staff decided it, or they are provisional: a
    score from too few instances is provisional only if it lost ratings.
    """
    return whole() | Q(evaluation__ranks_partial=True) | Q(provisional=True)


def whole() -> Q:
    # the cast keeps the product a fraction: databases would compare integers otherwise
    planned = Cast(F("evaluation__n_instances"), FloatField())
    return Q(n__gte=planned * whole_share())


def n_judged(evaluation: HumanEvaluation) -> int:
    scores = evaluation.scores.filter(superseded_at=None)
    return int(scores.aggregate(n=Max("n"))["n"] or 0)


def partial_of(n: int, of: int, state: str) -> Partial | None:
    return None if is_whole(n, of) else Partial(n, of, state)


def partial_of_score(score: Score) -> Partial | None:
    """Return a partial score's description; prefetch `evaluation__campaigns` for many."""
    evaluation = score.evaluation
    return partial_of(score.n, evaluation.n_instances, evaluation.campaign.state)
