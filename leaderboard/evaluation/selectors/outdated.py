"""Which results are older than what they were made from."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.db.models import Exists, F, OuterRef, Q

from crowd.hits.models.assignment import Assignment
from leaderboard.evaluation.models import states
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from quality.bans.selectors import bans

# A ban bears the time at which its transaction began: a score that was computed before
# that one ended has not seen it. So long at most does such a transaction take.
UNSEEN = timedelta(minutes=1)


def outdated(among: Collection[int] | None = None) -> list[int]:
    """Find scored evaluations whose ratings have changed since they were scored.

    A ban fell or was lifted in their pool, work was rejected or its rejection taken
    back, a campaign that asked again has ended and its new ratings are not counted, or
    staff added money with which it can ask again. Also joint evaluations whose results
    another version computed in another way.
    """
    rows = HumanEvaluation.objects.filter(state=states.State.SCORED)
    if among is not None:
        rows = rows.filter(pk__in=among)
    scored = rows.exclude(scored_at=None)
    banned = [
        pk
        for pool, at in bans.changed_at().items()
        for pk in scored.filter(task__slug=pool, scored_at__lt=at + UNSEEN).values_list(
            "pk", flat=True
        )
    ]
    judged = Assignment.objects.filter(
        Q(state=Assignment.State.REJECTED, decided_at__gt=OuterRef("scored_at"))
        | Q(overturned_at__gt=OuterRef("scored_at"))
    )
    other = scored.filter(
        Q(campaigns__campaign__completed_at__gt=F("scored_at"))
        # scoring is followed by asking again, which had no money before
        | Q(campaigns__campaign__money_added_at__gt=F("scored_at"))
        | Exists(judged.filter(hit__campaign=OuterRef("campaigns__campaign")))
    ).values_list("pk", flat=True)
    joint = HumanEvaluation.Strategy.JOINT
    computed_otherwise = rows.filter(strategy=joint, scored_at=None)
    return sorted({*banned, *other, *computed_otherwise.values_list("pk", flat=True)})
