"""Process platform notices: each once, as a hint to look."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from crowd.elsewhere.models import PlatformNotice
from crowd.elsewhere.services.sync import JOB, look_at_hits
from crowd.hits.models import Campaign
from genie.lib import jobs

# Platforms try again for two days.
KEPT = timedelta(days=7)


def follow(platform: str, event_id: str, resource_id: str) -> bool:
    """Queue a look at the campaign of a notice; False if it came before."""
    with transaction.atomic():
        if not _is_new(platform, event_id):
            return False
        about = (
            Campaign.objects.filter(platform=platform)
            .filter(
                Q(external__platform_id=resource_id)
                | Q(sessions__session_id=resource_id)
            )
            # An unpublished campaign has no name there, and an empty name must match
            # none.
            .exclude(external__platform_id="")
            .order_by("pk")
            .values_list("pk", flat=True)
            .distinct()
        )
        campaign_pks = list(about) if resource_id else []
        if not campaign_pks:
            # A person took a place and has not arrived yet; it may be any of them.
            running = Campaign.objects.filter(
                platform=platform, state=Campaign.State.RUNNING
            )
            campaign_pks = list(running.order_by("pk").values_list("pk", flat=True))
        jobs.enqueue_missing([(JOB, {"campaign": pk}) for pk in campaign_pks])
    return True


def follow_hits(platform: str, event_id: str, names: Iterable[str]) -> None:
    """Queue a look at the campaigns of some HITs, unless the notice came before."""
    with transaction.atomic():
        if _is_new(platform, event_id):
            look_at_hits(platform, names)


def _is_new(platform: str, event_id: str) -> bool:
    """Store a notice's id; one without an id is always new, as it only causes a look."""
    if not event_id:
        return True
    # No database stores a NUL.
    name = event_id.replace("\0", "")[:100]
    return PlatformNotice.objects.get_or_create(platform=platform, event_id=name)[1]


def forget(now: datetime | None = None) -> int:
    limit = (now or timezone.now()) - KEPT
    return PlatformNotice.objects.filter(received_at__lt=limit).delete()[0]
