"""Whether a campaign waits for people who will not come."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Coalesce

from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.hits.models.reservation import Reservation
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Exclusion, Worker
from crowd.workers.selectors.eligible import unseen_hits
from crowd.workers.selectors.qualifications import standings_of
from crowd.workers.selectors.requirements import unmet

# Who has neither joined nor taken work for longer is not counted on.
ACTIVE = timedelta(days=30)


def is_starved(campaign: Campaign, now: datetime) -> bool:
    """Tell whether HITs wait, nobody works on one, and no active worker may take one.

    All of them are excluded, lack what is required and cannot get it by a test, or have
    seen every input that is left. On other platforms than our own nobody knows who might
    come.
    """
    if campaign.state != Campaign.State.RUNNING or campaign.platform != "selfhosted":
        return False
    if not campaign.hits.filter(n_available__gt=0).exists():
        return False
    if Assignment.objects.filter(
        hit__campaign=campaign, state=Assignment.State.ACCEPTED
    ).exists():
        return False
    # Those who were here last come first, so the first few nearly always settle it.
    return not any(
        unseen_hits(worker, campaign).exists() and _may_qualify(worker, campaign, now)
        for worker in _counted_on(campaign, now).iterator(chunk_size=50)
    )


def _may_qualify(worker: Worker, campaign: Campaign, now: datetime) -> bool:
    """Tell whether the worker meets what is required, or has tries left to."""
    lacking = unmet(worker, [campaign], now).get(campaign.pk, [])
    names = {row.test_name for row in lacking if row.kind == Requirement.Kind.TEST}
    if len(names) < len(lacking):
        return False
    standings = standings_of(worker, names, now) if names else {}
    return all(name in standings and not standings[name].hopeless for name in names)


def _counted_on(campaign: Campaign, now: datetime) -> QuerySet[Worker]:
    """Give the active workers whom the campaign is open to, those seen last first."""
    workers = Worker.objects.filter(platform=campaign.platform, excluded=False).exclude(
        pk__in=Exclusion.objects.filter(pool=campaign.pool).values("worker")
    )
    # Where one worker has the campaign to themselves, the others are not waited for.
    reserved = Reservation.objects.filter(campaign=campaign, worker__isnull=False)
    if reserved.exists():
        workers = workers.filter(pk__in=reserved.values("worker"))
    if not campaign.simulated:
        workers = workers.filter(simulated=False)
    with_last_work = workers.annotate(took_at=Max("assignments__accepted_at"))
    return with_last_work.filter(
        Q(took_at__gte=now - ACTIVE) | Q(created_at__gte=now - ACTIVE)
    ).order_by(Coalesce("took_at", "created_at").desc(), "pk")
