"""Offers on other platforms after the reward changed: a new type and moved HITs.

Untouched HITs move to the type of the new reward. If a worker has taken one, the
platform refuses, and the HIT keeps its reward. Each HIT has one reward at a time,
stored in `HIT.posted_as`, so the ledger has what the platform pays.
"""

from datetime import datetime

from django.db import transaction

from crowd.campaigns.services import outbox
from crowd.elsewhere.models import ExternalCampaign, OutwardCall
from crowd.hits.models import HIT, Assignment, Campaign
from crowd.hits.selectors import offer_name
from crowd.platforms.base import ExternalRef, Platform

Kind = OutwardCall.Kind
State = OutwardCall.State
PORTION = 200


def is_published(campaign: Campaign, place: ExternalCampaign) -> bool:
    name = offer_id(campaign, campaign.hit_type_id)
    if name and place.platform_id != name:
        ExternalCampaign.objects.filter(pk=place.pk).update(platform_id=name)
        place.platform_id = name
    return bool(name)


def offer_id(campaign: Campaign, hit_type_pk: int) -> str:
    """Return the platform's name of one of the campaign's types; empty if it has none."""
    key = outbox.key_of(Kind.PUBLISH, offer_name(campaign, hit_type_pk))
    done = OutwardCall.objects.filter(key=key, state=State.DONE)
    return done.values_list("platform_id", flat=True).first() or ""


def move(
    campaign: Campaign, place: ExternalCampaign, platform: Platform, now: datetime
) -> None:
    _plan(campaign)
    ref = ExternalRef(place.platform_id)
    calls = list(outbox.due(campaign, Kind.RETYPE).select_related("hit").order_by("pk"))
    for first in range(0, len(calls), PORTION):
        taken = outbox.take(calls[first : first + PORTION], now)
        by_key = {call.key: (call, sent) for call, sent in taken}
        hits = {
            call.key: call.hit.platform_hit_id
            for call, _ in taken
            if call.hit is not None
        }
        for result in platform.retype(ref, hits):
            call, sent = by_key[result.key]
            # Both or neither, so our books match what the HIT pays there.
            with transaction.atomic():
                done = outbox.note_result(call, sent, result, now)
                if done.state == State.DONE:
                    HIT.objects.filter(pk=call.hit_id or 0).update(posted_as=None)


def _plan(campaign: Campaign) -> None:
    posted = OutwardCall.objects.filter(
        campaign=campaign, kind=Kind.POST, state=State.DONE
    ).values("hit")
    hits = HIT.objects.filter(pk__in=posted, posted_as__isnull=False).exclude(
        pk__in=Assignment.objects.filter(hit__campaign=campaign).values("hit")
    )
    with transaction.atomic():
        for hit in hits.order_by("position"):
            name = f"{hit.pk}.{campaign.hit_type_id}"
            outbox.plan(campaign, Kind.RETYPE, name, hit=hit)


def hits_of_unknown_reward(campaign: Campaign) -> set[int]:
    """Return the HITs whose reward on the platform is not known yet."""
    sending = OutwardCall.objects.filter(
        campaign=campaign, kind=Kind.RETYPE, state=State.SENDING
    )
    return {pk for pk in sending.values_list("hit", flat=True) if pk}
