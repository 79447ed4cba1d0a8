"""Results that are older than their data."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from crowd.hits.models import Assignment
from leaderboard.evaluation.models import states
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from quality.bans import selectors

# A ban has the time at which its transaction began: a score computed before the
# transaction's end has not seen it. Such a transaction takes at most this long.
UNSEEN = timedelta(minutes=1)
# Up to this many campaigns are checked one by one.
FEW = 16


def outdated(among: Collection[int] | None = None) -> list[int]:
    """Return scored evaluations whose ratings have changed since they were scored.

    A ban in their pool was issued or lifted, work was rejected or its rejection taken
    back, a campaign that asked again has ended with uncounted ratings, or staff added
    money with which it can ask again.
    """
    scored = _scored(among).exclude(scored_at=None).annotate(since=F("scored_at"))
    other = scored.filter(campaigns__campaign__completed_at__gt=F("since"))
    return sorted({*_changed(scored), *other.values_list("pk", flat=True)})


def with_lost_ratings(
    among: Collection[int] | None = None, *, unseen: timedelta = UNSEEN
) -> list[int]:
    rows = _scored(among).exclude(scored_at=None)
    looked_at = rows.annotate(since=Coalesce("asked_again_at", "scored_at"))
    return sorted(_changed(looked_at, unseen))


def _scored(among: Collection[int] | None) -> QuerySet[HumanEvaluation]:
    rows = HumanEvaluation.objects.filter(state=states.State.SCORED)
    return rows if among is None else rows.filter(pk__in=among)


def _changed(rows: QuerySet[Any], unseen: timedelta = UNSEEN) -> set[int]:
    asked = list(
        rows.values_list(
            *("pk", F("since"), "task__slug", "campaigns__campaign"),
            "campaigns__campaign__money_added_at",
        )
    )
    if not asked:
        return set()
    changed_at = selectors.changed_at()
    decided_at = _decided_at([campaign for *_, campaign, _ in asked])
    return {
        pk
        for pk, since, pool, campaign, added_at in asked
        if (pool in changed_at and since < changed_at[pool] + unseen)
        or (campaign in decided_at and decided_at[campaign] > since)
        # Scoring is followed by asking again, which lacked money before.
        or (added_at is not None and added_at > since)
    }


def _decided_at(campaigns: Sequence[int | None]) -> dict[int, datetime]:
    """Return when work was last rejected, or a rejection taken back, by campaign.

    Reads only the few assignments that this concerns, each kind through a separate
    index.
    """
    newest: dict[int, datetime] = {}
    kinds = {
        "decided_at": Assignment.objects.filter(state=Assignment.State.REJECTED),
        "overturned_at": Assignment.objects.filter(overturned_at__isnull=False),
    }
    for moment, rows in kinds.items():
        if len(campaigns) <= FEW:
            rows = rows.filter(hit__campaign__in=campaigns)
        # not grouped by the database, which might begin with the HITs of each group
        for campaign, at in rows.order_by().values_list("hit__campaign", moment):
            if at is not None:
                newest[campaign] = max(at, newest.get(campaign, at))
    return newest
