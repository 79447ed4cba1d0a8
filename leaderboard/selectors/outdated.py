"""Which scores are older than what they were made from."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from crowd.models import Assignment
from leaderboard.models import HumanEvaluation, JointEvaluation, Submission
from quality.selectors import bans

State = Submission.State
# A ban bears the time at which its transaction began: a score that was computed before
# that one ended has not seen it. So long at most does such a transaction take.
UNSEEN = timedelta(minutes=1)


def outdated() -> list[int]:
    """Find scored submissions whose ratings have changed since they were scored.

    A ban fell or was lifted in their pool, work was rejected or its rejection taken
    back, a campaign that asked again has ended and its new ratings are not counted, or
    staff added money with which it can ask again.
    """
    # only what has a score can be older than its ratings
    scored = HumanEvaluation.objects.filter(
        submission__state__in=[State.SCORED, State.PUBLISHED]
    ).exclude(scored_at=None)
    banned = _banned_after(scored, "scored_at", "campaign__pool", "submission_id")
    judged = _judged_after("scored_at")
    changed = scored.filter(
        Q(campaign__completed_at__gt=F("scored_at"))
        | Q(separate_campaigns__campaign__completed_at__gt=F("scored_at"))
        # scoring is followed by asking again, which had no money before
        | Q(campaign__money_added_at__gt=F("scored_at"))
        | Q(separate_campaigns__campaign__money_added_at__gt=F("scored_at"))
        | Exists(judged.filter(hit__campaign=OuterRef("campaign")))
        | Exists(judged.filter(hit__campaign=OuterRef("separate_campaigns__campaign")))
    ).values_list("submission_id", flat=True)
    return sorted({*banned, *changed})


def _banned_after(
    scored: QuerySet[Any], scored_at: str, pool: str, key: str
) -> list[int]:
    """Find rows in whose pool a ban fell or was lifted after their score."""
    return [
        pk
        for name, at in bans.changed_at().items()
        for pk in scored.filter(
            **{pool: name, f"{scored_at}__lt": at + UNSEEN}
        ).values_list(key, flat=True)
    ]


def _judged_after(scored_at: str) -> QuerySet[Assignment]:
    """Find work whose answers ceased to count, or began again, after a score."""
    return Assignment.objects.filter(
        Q(state=Assignment.State.REJECTED, decided_at__gt=OuterRef(scored_at))
        | Q(overturned_at__gt=OuterRef(scored_at))
    )


def outdated_joint() -> list[int]:
    """Find joint evaluations whose ratings have changed since they were scored.

    Also those whose results another version computed in another way.
    """
    scored = JointEvaluation.objects.filter(state=JointEvaluation.State.SCORED)
    banned = _banned_after(scored, "evaluation__scored_at", "task__slug", "pk")
    judged = _judged_after("evaluation__scored_at")
    changed = scored.filter(
        Q(evaluation__scored_at=None)
        | Exists(judged.filter(hit__campaign=OuterRef("evaluation__campaign")))
        | Exists(
            judged.filter(
                hit__campaign=OuterRef("evaluation__separate_campaigns__campaign")
            )
        )
    ).values_list("pk", flat=True)
    return sorted({*banned, *changed})
