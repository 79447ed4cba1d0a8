"""Open decisions before a score is final, and reasons for its changes."""

from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from crowd.hits.models import Assignment, Campaign
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors import coverage
from leaderboard.evaluation.selectors.outdated import outdated
from quality.bans.selectors import COUNTED, n_appeals, n_held
from quality.detection.models import Ban

State = Campaign.State
_STILL_ASKING = Q(state=State.RUNNING) | Q(state=State.STOPPED, completed_at=None)
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
    asking = Campaign.objects.filter(_STILL_ASKING, pk__in=pks)
    if asking.exists():
        reasons.append(REPLACEMENTS)
    elif lost_instances(evaluation).exists() and not outdated([evaluation.pk]):
        reasons.append(MISSING)
    if n := n_held(pks):
        reasons.append(f"{n:,} {_plural(n, 'exclusion')} to be decided by staff")
    if n := n_appeals(pks):
        reasons.append(f"{n:,} {_plural(n, 'appeal')} to be decided by staff")
    if _goes_on_elsewhere(evaluation, pks):
        reasons.append(OTHERS)
    return reasons


def lost_instances(evaluation: HumanEvaluation) -> QuerySet[Score]:
    return evaluation.scores.filter(superseded_at=None, provisional=True).exclude(
        coverage.whole()
    )


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
        _counted(n["excluded"], "worker", "excluded"),
        _counted(n["readmitted"], "worker", "readmitted"),
        _counted(m["rejected"], "assignment", "rejected"),
        _counted(m["reversed"], "rejection", "reversed"),
        _counted(m["again"], "assignment", "collected again"),
    ]
    said = ", ".join(part for part in parts if part)
    said = said or "other ratings count than before"
    return f"{said} after publication"


def _counted(n: int, noun: str, verb: str) -> str:
    return f"{n:,} {_plural(n, noun)} {verb}" if n else ""


def _plural(n: int, noun: str) -> str:
    return noun if n == 1 else f"{noun}s"
