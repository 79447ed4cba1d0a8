"""Open decisions before a score is final, and reasons for its changes."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowd.hits.models import Assignment, Campaign
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.ranked_scores import whole
from leaderboard.submissions import states
from quality.bans import selectors
from quality.bans.models import Ban
from quality.bans.selectors import COUNTED, n_appeals, n_held

# Results that are older than their data.

# A ban has the time at which its transaction began: a score computed before the
# transaction's end has not seen it. Such a transaction takes at most this long.
UNSEEN = timedelta(minutes=1)
# Up to this many campaigns are checked one by one.
FEW = 16


def outdated_evaluations(among: Collection[int] | None = None) -> list[int]:
    """Return scored evaluations whose ratings have changed since they were scored.

    A ban in their pool was issued or lifted, work was rejected or its rejection taken
    back, a campaign that asked again has ended with uncounted ratings, or staff added
    money with which it can ask again.
    """
    scored = (
        _scored_evaluations(among)
        .exclude(scored_at=None)
        .annotate(since=F("scored_at"))
    )
    other = scored.filter(campaigns__campaign__completed_at__gt=F("since"))
    return sorted({*_changed_evaluations(scored), *other.values_list("pk", flat=True)})


def with_lost_ratings(
    among: Collection[int] | None = None, *, unseen: timedelta = UNSEEN
) -> list[int]:
    rows = _scored_evaluations(among).filter(
        pk__in=HumanEvaluation.objects.of_systems()
    )
    rows = rows.exclude(scored_at=None)
    looked_at = rows.annotate(since=Coalesce("asked_again_at", "scored_at"))
    return sorted(_changed_evaluations(looked_at, unseen))


def _scored_evaluations(among: Collection[int] | None) -> QuerySet[HumanEvaluation]:
    rows = HumanEvaluation.objects.filter(state=states.State.SCORED)
    return rows if among is None else rows.filter(pk__in=among)


def _changed_evaluations(rows: QuerySet[Any], unseen: timedelta = UNSEEN) -> set[int]:
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


State = Campaign.State
# The longest wait of a score for campaigns that were open at the same time.
SETTLES_WITHIN = timedelta(days=7)
REPLACEMENTS = "ratings of excluded workers are being collected again"
MISSING = (
    "ratings that were left out could not be collected again within the approved budget"
)
OTHERS = "its workers still answer test questions in campaigns of that time"

# between two checks of the queue no question may be open
LAST_CHECK = "the last check is about to be made"


def unsettled(evaluation: HumanEvaluation) -> list[str]:
    """Return what could still change which ratings count; empty if nothing is open.

    Excluded workers' ratings are being collected again or are missing, staff have an
    exclusion or an appeal to decide, or workers continue in campaigns that were open at
    the same time: their answers there may show that they are unreliable here, too.
    """
    pks = [campaign.pk for campaign in evaluation.campaigns_in_order]
    reasons = []
    asking = Campaign.objects.filter(
        Q(state=State.RUNNING) | Q(state=State.STOPPED, completed_at=None), pk__in=pks
    )
    if asking.exists():
        reasons.append(REPLACEMENTS)
    elif lost_instances(evaluation).exists() and not outdated_evaluations(
        [evaluation.pk]
    ):
        reasons.append(MISSING)
    if n := n_held(pks):
        reasons.append(f"{n:,} {_plural(n, 'exclusion')} to be decided by staff")
    if n := n_appeals(pks):
        reasons.append(f"{n:,} {_plural(n, 'appeal')} to be decided by staff")
    if _goes_on_elsewhere(evaluation, pks):
        reasons.append(OTHERS)
    return reasons


def lost_instances(evaluation: HumanEvaluation) -> QuerySet[Score]:
    return evaluation.current_scores.filter(provisional=True).exclude(whole())


def _goes_on_elsewhere(evaluation: HumanEvaluation, pks: list[int]) -> bool:
    """Check whether workers are still tested in other campaigns of the same time.

    Later campaigns do not count, or no score would become final if one follows the
    other. After some days the check no longer waits.
    """
    ended_at = evaluation.finished_at
    if ended_at is None or timezone.now() - ended_at > SETTLES_WITHIN:
        return False
    workers = Assignment.objects.filter(
        hit__campaign__in=pks, state__in=COUNTED
    ).values("worker")
    return (
        Campaign.objects.filter(
            pool=evaluation.task.slug,
            simulated=evaluation.simulated,
            state=State.RUNNING,
            starts_at__lt=ended_at,
            hits__assignments__worker__in=workers,
        )
        .exclude(pk__in=pks)
        .exists()
    )


def why_changed(evaluation: HumanEvaluation, since: datetime) -> str:
    pks = [campaign.pk for campaign in evaluation.campaigns_in_order]
    work = Assignment.objects.filter(hit__campaign__in=pks)
    bans = Ban.objects.filter(
        pool=evaluation.task.slug,
        worker__in=work.filter(state__in=COUNTED).values("worker"),
    )
    n = bans.aggregate(
        excluded=Count("pk", filter=Q(created_at__gt=since, lifted_at=None)),
        readmitted=Count("pk", filter=Q(created_at__lte=since, lifted_at__gt=since)),
    )
    m = work.aggregate(
        rejected=Count("pk", filter=Q(state="REJECTED", decided_at__gt=since)),
        reversed=Count("pk", filter=Q(overturned_at__gt=since)),
        again=Count(
            "pk",
            filter=Q(
                state__in=COUNTED,
                replaced_at=None,
                submitted_at__gt=since,
                hit__campaign__completed_at__gt=since,
            )
            & ~Q(overturned_at__gt=since),
        ),
    )
    parts = [
        _count_phrase(n["excluded"], "worker", "excluded"),
        _count_phrase(n["readmitted"], "worker", "readmitted"),
        _count_phrase(m["rejected"], "assignment", "rejected"),
        _count_phrase(m["reversed"], "rejection", "reversed"),
        _count_phrase(m["again"], "assignment", "collected again"),
    ]
    said = ", ".join(part for part in parts if part)
    said = said or "different ratings count"
    return f"{said} after publication"


def _count_phrase(n: int, noun: str, verb: str) -> str:
    return f"{n:,} {_plural(n, noun)} {verb}" if n else ""


def _plural(n: int, noun: str) -> str:
    return noun if n == 1 else f"{noun}s"
