"""What a worker has chosen, or what holds where they have chosen nothing."""

from datetime import timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db.models import Q
from django.utils import timezone

from crowd.hits.models.campaign import Campaign
from crowd.workers.choices import UTC
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Profile, Worker
from crowd.workers.selectors.requirements import SAID

# Who has said where they live says so again after this time at the earliest.
SAID_FOR = timedelta(days=30)


def profile_of(worker: Worker) -> Profile:
    """Give a worker's choices; new ones that are not stored where there are none."""
    # None, or an error that is an AttributeError, where nothing is stored
    return getattr(worker, "profile", None) or Profile(worker=worker)


def zone_of(worker: Worker) -> tzinfo:
    """Give the zone in which a worker reads times."""
    try:
        return ZoneInfo(profile_of(worker).time_zone or UTC)
    except (ZoneInfoNotFoundError, ValueError):
        # a zone that this machine does not know any more
        return ZoneInfo(UTC)


def may_say_country(profile: Profile) -> bool:
    """Tell whether the country can be changed: not so soon after it was last said."""
    said = profile.country_said_at
    return said is None or said <= timezone.now() - SAID_FOR


def asked_for() -> list[Requirement]:
    """Give what running work requires that workers say of themselves."""
    running = Campaign.objects.filter(state=Campaign.State.RUNNING).order_by()
    rows = Requirement.objects.filter(kind__in=SAID).filter(
        Q(campaign__in=running) | Q(pool__in=running.values("pool"))
    )
    return list(rows)
