from datetime import timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db.models import Q
from django.utils import timezone

from crowd.hits.models import Campaign
from crowd.workers.choices import UTC
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Profile, Worker
from crowd.workers.selectors.requirements import SAID

# A stated country can be changed only after this time.
SAID_FOR = timedelta(days=30)


def profile_of(worker: Worker) -> Profile:
    # None, or an error that is an AttributeError, if none is stored
    return getattr(worker, "profile", None) or Profile(worker=worker)


def zone_of(worker: Worker) -> tzinfo:
    try:
        return ZoneInfo(profile_of(worker).time_zone or UTC)
    except (ZoneInfoNotFoundError, ValueError):
        # this machine no longer has the zone
        return ZoneInfo(UTC)


def may_say_country(profile: Profile) -> bool:
    """Check whether the country can be changed: not too soon after the last change."""
    said = profile.country_said_at
    return said is None or said <= timezone.now() - SAID_FOR


def asked_for() -> list[Requirement]:
    running = Campaign.objects.filter(state=Campaign.State.RUNNING).order_by()
    rows = Requirement.objects.filter(kind__in=SAID).filter(
        Q(campaign__in=running) | Q(pool__in=running.values("pool"))
    )
    return list(rows)
