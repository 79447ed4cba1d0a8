"""One look at a campaign on a platform: send our state, store the platform's.

All of this may run any number of times and be killed anywhere: planned calls stay
planned, calls being sent are looked up, answers that come twice are stored once.
"""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from crowd.campaigns.services import outbox
from crowd.elsewhere.models import ExternalCampaign, ExternalSession, OutwardCall
from crowd.elsewhere.services import (
    collect,
    decisions,
    early_ends,
    hit_offer,
    retype,
    study,
    whole_places,
)
from crowd.elsewhere.services.hit_offer import Pages
from crowd.hits.models import Assignment, Campaign, HITType
from crowd.hits.services.platforms import connect, external_slugs
from crowd.platforms.base import ExternalRef, Platform
from genie.lib import jobs
from genie.lib.errors import GenieError

logger = logging.getLogger(__name__)
JOB = "crowd.jobs.sync_campaign"
LEASE = outbox.LEASE
FAILED = "The last check failed: "
# Work that was open when a campaign closed may arrive for this long after.
LATE = timedelta(minutes=10)
State = Campaign.State
OVER = (State.STOPPED, State.COMPLETE)
NOT_OFFERED = (State.PAUSED, *OVER)
Sending = OutwardCall.State


def enqueue_due(now: datetime | None = None) -> int:
    now = now or timezone.now()
    interval = timedelta(seconds=settings.GENIE["PLATFORM_SYNC_SECONDS"])
    rows = (
        Campaign.objects.filter(platform__in=external_slugs())
        .exclude(state=State.SCHEDULED)
        .filter(
            Q(external=None)
            | Q(external__synced_at=None)
            | Q(external__synced_at__lte=now - interval)
            | Q(external__is_open=True, state__in=NOT_OFFERED)
        )
        .select_related("external", "hit_type")
        .order_by("pk")
    )
    longest = HITType.objects.aggregate(seconds=Max("assignment_seconds"))["seconds"]
    # The database leaves out campaigns that ended long ago.
    rows = rows.filter(_unsettled_visits(now, timedelta(seconds=longest or 0)))
    due_jobs = [(JOB, {"campaign": row.pk}) for row in rows if not is_settled(row, now)]
    return jobs.enqueue_missing(due_jobs)


def is_settled(campaign: Campaign, now: datetime) -> bool:
    seconds = timedelta(seconds=campaign.hit_type.assignment_seconds)
    own = Campaign.objects.filter(_unsettled_visits(now, seconds), pk=campaign.pk)
    return campaign.state in OVER and not own.exists()


def _unsettled_visits(now: datetime, assignment: timedelta) -> Q:
    calls = OutwardCall.objects.filter(campaign=OuterRef("pk"))
    waiting = calls.filter(state__in=[Sending.PLANNED, Sending.SENDING])
    closed = calls.filter(
        kind=OutwardCall.Kind.CLOSE, done_at__gte=now - assignment - LATE
    )
    sessions = ExternalSession.objects.filter(
        campaign=OuterRef("pk"), status__in=["started", "submitted"]
    )
    matters = Q(
        Q(external__is_open=True)
        | Exists(waiting)
        | Exists(sessions)
        | Exists(decisions.planned_bonuses(OuterRef("pk")))
        | Exists(early_ends.entries_owed(OuterRef("pk")))
        | Exists(closed)
    )
    return ~Q(state__in=OVER) | Q(external__isnull=False) & matters


def sync_campaign(pk: int, pages: Pages, now: datetime | None = None) -> None:
    """Check one campaign, unless another process is already doing it."""
    now = now or timezone.now()
    campaign = Campaign.objects.select_related("hit_type").get(pk=pk)
    place, _ = ExternalCampaign.objects.get_or_create(campaign=campaign)
    leased = ExternalCampaign.objects.filter(
        Q(busy_until=None) | Q(busy_until__lte=now), pk=place.pk
    ).update(busy_until=now + LEASE)
    if not leased:
        return
    # Its reward changes only while no process holds the place.
    campaign.refresh_from_db()
    try:
        look(campaign, connect(campaign.platform), pages, now)
    except GenieError as error:
        # The next look is automatic; staff see on the campaign why this one failed.
        ExternalCampaign.objects.filter(pk=place.pk).update(
            trouble=f"{FAILED}{error.message}"[:500]
        )
    else:
        ExternalCampaign.objects.filter(pk=place.pk, trouble__startswith=FAILED).update(
            trouble=""
        )
    finally:
        # A process whose lease has run out does not release another's.
        ExternalCampaign.objects.filter(pk=place.pk, busy_until=now + LEASE).update(
            busy_until=None
        )


def look(campaign: Campaign, platform: Platform, pages: Pages, now: datetime) -> int:
    # Before anything is posted, the site's present setting decides the platform.
    ExternalCampaign.objects.filter(campaign=campaign, platform_id="").update(
        environment=platform.environment
    )
    place, _ = ExternalCampaign.objects.get_or_create(
        campaign=campaign, defaults={"environment": platform.environment}
    )
    # Sandbox and production do not share HITs, so none of these could be found.
    if place.environment != platform.environment:
        hit_offer.note_trouble(
            place,
            f"This campaign was posted in {place.environment!r}, but the site is now "
            f"configured for {platform.environment!r}. No data is sent.",
        )
        return 0
    assigns_items = platform.capabilities.assigns_items
    if assigns_items:
        # Excluded workers must not see what is posted now.
        decisions.keep_away(campaign, platform, now)
        hit_offer.advance(campaign, place, platform, pages, now)
    else:
        study.advance(campaign, place, platform, now)
    place.refresh_from_db()
    ref = ref_to_look_at(campaign, place, platform)
    n = _take_in(campaign, platform, ref, place, pages)
    decisions.decide(campaign, platform, now)
    if not assigns_items:
        # Pay for finished work comes before places that are not taken.
        early_ends.plan(campaign, place)
        study.ask_for_more(campaign, platform, now)
    decisions.pay_bonuses(campaign, platform, now)
    if not assigns_items:
        decisions.keep_away(campaign, platform, now)
    # Last of all, so a look that fails is repeated from the same time on.
    ExternalCampaign.objects.filter(pk=place.pk).update(synced_at=now)
    return n


def _take_in(
    campaign: Campaign,
    platform: Platform,
    ref: ExternalRef,
    place: ExternalCampaign,
    pages: Pages,
) -> int:
    if not ref.campaign_id:
        return 0
    events = platform.sync(ref, place.synced_at)
    if platform.capabilities.answers_there:
        return collect.collect(campaign, events, pages)
    n = study.take_in(campaign, events)
    study.ask_again(campaign.sessions.all(), platform)
    whole_places.pay_whole_places(campaign)
    whole_places.note_screen_outs(campaign)
    return n


def ref_to_look_at(
    campaign: Campaign, place: ExternalCampaign, platform: Platform
) -> ExternalRef:
    if not platform.capabilities.answers_there:
        return hit_offer.ref_of(campaign, place)
    names, n_places_told, _ = outbox.posted_hits(campaign)
    decided = dict(
        Assignment.objects.filter(
            hit__campaign=campaign, session_work__session__status="approved"
        )
        .order_by()
        .values_list("hit")
        .annotate(n=Count("pk"))
    )
    # Answers wait with the platform until their pay is known.
    undecided = retype.hits_of_unknown_reward(campaign)
    live = {
        str(pk): name
        for pk, name in names.items()
        if decided.get(pk, 0) < n_places_told[pk] and pk not in undecided
    }
    return ExternalRef(place.platform_id, live)


def follow_all_hints() -> None:
    """Process the hints of all platforms in use; one that fails stops no other."""
    used = Campaign.objects.filter(platform__in=external_slugs(), state=State.RUNNING)
    for slug in used.order_by().values_list("platform", flat=True).distinct():
        try:
            follow_hints(slug)
        except GenieError as error:
            logger.warning("No hints from %s: %s", slug, error)


def follow_hints(platform_slug: str) -> None:
    for names in connect(platform_slug).hints():
        look_at_hits(platform_slug, names)


def look_at_hits(platform_slug: str, names: Iterable[str]) -> None:
    pks = (
        OutwardCall.objects.filter(
            kind=OutwardCall.Kind.POST,
            platform_id__in=list(names),
            campaign__platform=platform_slug,
        )
        .order_by("campaign")
        .values_list("campaign", flat=True)
        .distinct()
    )
    jobs.enqueue_missing([(JOB, {"campaign": pk}) for pk in pks])
