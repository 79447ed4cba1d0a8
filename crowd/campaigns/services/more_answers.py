from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F

from crowd.campaigns.services import run
from crowd.campaigns.services.run import refresh_share
from crowd.elsewhere.models import ExternalCampaign
from crowd.hits.models import Campaign
from crowd.hits.selectors import unit_cents
from crowd.hits.services.build import add_slots
from crowd.money.models import Commitment
from crowd.money.services import budgets
from crowd.pricing import MANY_ASSIGNMENTS, fee_per_assignment
from genie.lib.admin import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

State = Campaign.State
MOST = 100


@dataclass(frozen=True)
class Price:
    n_places: int
    cents: int


def price_answers(campaign: Campaign, more: int) -> Price:
    """Return the price of that many more answers to each HIT of a campaign.

    Raises
    ------
    GenieError
        ``campaign-over`` if it is stopped or complete, ``asks-by-itself`` for
        campaigns that choose their number of answers, ``bad-number``,
        ``too-many-answers`` if the platform would not open so many places.
    """
    if campaign.state in {State.STOPPED, State.COMPLETE}:
        raise GenieError(
            f"This campaign is {campaign.get_state_display()}; more answers can be "
            "asked for only before it ends.",
            code="campaign-over",
        )
    if campaign.answers_per_hit is None:
        raise GenieError(
            "A comparison requests the answers that its result needs.",
            code="asks-by-itself",
        )
    if not 1 <= more <= MOST:
        raise GenieError(f"Ask for 1 to {MOST} more answers.", code="bad-number")
    _check_fee(campaign, more)
    n = campaign.hits.count() * more
    place = ExternalCampaign.objects.filter(campaign=campaign).first()
    if place is None or place.place_size == 1:
        return Price(n, n * unit_cents(campaign))
    # A visitor is paid for a whole place, however little is left for the last one.
    each = campaign.hit_type.reward_cents * place.place_size + place.place_fee_cents
    return Price(n, math.ceil(n / place.place_size) * each)


@transaction.atomic
def ask_for_more(
    campaign_pk: int,
    more: int,
    *,
    shown: int,
    agreed_cents: int,
    by: AbstractBaseUser,
    reason: str,
) -> Price:
    """Open more places in each HIT, once, and set the money for them aside.

    Parameters
    ----------
    shown : int
        The answers per HIT the person saw, so a form that is sent twice adds once.
    agreed_cents : int
        The price the person saw.

    Raises
    ------
    GenieError
        ``reason-missing``, ``answers-changed`` if the number per HIT has changed since,
        ``cost-changed``, ``over-budget`` if the pool's or the site's budget has no
        room, and the errors of `price_answers`.
    """
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    if not reason.strip():
        raise GenieError("Give a reason for more answers.", code="reason-missing")
    price = price_answers(campaign, more)
    if campaign.answers_per_hit != shown:
        raise GenieError(
            f"Each HIT now gets {campaign.answers_per_hit} answers, not {shown}; nothing "
            "was added. Reload the page.",
            code="answers-changed",
        )
    if price.cents != agreed_cents:
        raise GenieError(
            f"This now costs ${price.cents / 100:,.2f}, not "
            f"${agreed_cents / 100:,.2f}; please check it again.",
            code="cost-changed",
        )
    budgets.add(campaign, price.cents, by)
    add_slots(campaign.hits.all(), more)
    Campaign.objects.filter(pk=campaign_pk).update(
        answers_per_hit=F("answers_per_hit") + more
    )
    sentence = (
        f"Asked for {more} more answer{'' if more == 1 else 's'} to each HIT, "
        f"{shown + more} in all: {price.n_places:,} assignments, "
        f"${price.cents / 100:,.2f} added to the budget."
    )
    note(by, campaign, sentence, reason)
    for account in Commitment.objects.filter(key=campaign.key):
        note(by, account, sentence, reason)
    refresh_share(campaign)
    run.tell_platform(campaign_pk)
    return price


def _check_fee(campaign: Campaign, more: int) -> None:
    over = campaign.hits.filter(
        max_assignments__lt=MANY_ASSIGNMENTS,
        max_assignments__gte=MANY_ASSIGNMENTS - more,
    )
    reward = campaign.hit_type.reward_cents
    fee, dearer = (
        fee_per_assignment(campaign.platform, reward, max_assignments=n)
        for n in (1, MANY_ASSIGNMENTS)
    )
    if dearer > fee and over.exists():
        raise GenieError(
            f"On {campaign.platform} a HIT created for fewer than "
            f"{MANY_ASSIGNMENTS} answers cannot get {MANY_ASSIGNMENTS} or more.",
            code="too-many-answers",
        )
