"""Whether a score rests on the instances that were to be judged, or on too few.

An evaluation can end early: staff stop it, or the money for lost ratings runs out. Its
score is shown with how far it came, and is not ranked among those that are whole
unless staff decide that it is (`HumanEvaluation.ranks_partial`).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import F, FloatField, Max, Q
from django.db.models.functions import Cast

from crowd.hits.models.campaign import Campaign
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score

State = Campaign.State
_VERB = {State.STOPPED: "stopped at", State.COMPLETE: "ended at"}


@dataclass(frozen=True)
class Partial:
    """A score from too few instances: `n` of the `of` that were to be judged."""

    n: int
    of: int
    # the campaign's: what brought it to its end, or that it is still asking
    state: str

    def __str__(self) -> str:
        count = f"{self.n:,} of {self.of:,}"
        verb = _VERB.get(State(self.state))
        return f"{verb} {count}" if verb else f"{count} so far"


def whole_share() -> float:
    """Give the share of its instances that a score needs to be ranked by itself."""
    return float(settings.GENIE["WHOLE_SHARE"])


def is_whole(n: int, of: int) -> bool:
    """Tell whether a score from n of the planned instances is ranked by itself."""
    return n >= whole_share() * of


def ranked() -> Q:
    """Select the scores that are ranked: from enough instances, or as staff decided."""
    # the cast keeps the product a fraction: databases would compare integers otherwise
    planned = Cast(F("evaluation__n_instances"), FloatField())
    return Q(n__gte=planned * whole_share()) | Q(evaluation__ranks_partial=True)


def n_judged(evaluation: HumanEvaluation) -> int:
    """Count the instances behind the current scores, 0 before there are any."""
    scores = evaluation.scores.filter(superseded_at=None)
    return int(scores.aggregate(n=Max("n"))["n"] or 0)


def partial_of(n: int, of: int, state: str) -> Partial | None:
    """Describe a score from too few instances; None when it is whole."""
    return None if is_whole(n, of) else Partial(n, of, state)


def partial_of_score(score: Score) -> Partial | None:
    """Describe a partial score; prefetch `evaluation__campaigns` with several."""
    evaluation = score.evaluation
    return partial_of(score.n, evaluation.n_instances, evaluation.campaign.state)
