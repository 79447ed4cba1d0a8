from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from crowd.campaigns.services import reissue
from crowd.hits.models import ELSEWHERE, Campaign
from crowd.money.models import Commitment
from crowd.money.services import budgets
from genie.lib.admin import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

State = Campaign.State


@transaction.atomic
def add_money(
    campaign_pk: int,
    cents: int,
    *,
    budget_cents: int,
    by: AbstractBaseUser,
    reason: str,
) -> int:
    """Raise a campaign's budget once; return how many answers are asked for again.

    A complete campaign may only use the money: it is set aside when the campaign asks
    again.

    Parameters
    ----------
    budget_cents : int
        The budget the person saw, so a form that is sent twice adds once.

    Raises
    ------
    GenieError
        ``bad-amount``, ``reason-missing``, ``campaign-over`` for a stopped campaign,
        ``budget-changed`` if the budget has changed since, ``over-budget`` if the
        pool's or the site's budget has no room.
    """
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    _check(campaign, cents, budget_cents, reason)
    if campaign.state == State.COMPLETE:
        budgets.refuse_beyond(campaign.pool_id, cents)
        rise = {"budget_cents": F("budget_cents") + cents}
    else:
        budgets.add(campaign, cents, by)
        rise = {}
    Campaign.objects.filter(pk=campaign_pk).update(
        **rise,
        money_added_at=timezone.now(),
        notice=reissue.without_shortage(campaign.notice),
    )
    sentence = (
        f"Added ${cents / 100:,.2f}: the budget rose from ${budget_cents / 100:,.2f} to "
        f"${(budget_cents + cents) / 100:,.2f}."
    )
    note(by, campaign, sentence, reason)
    for account in Commitment.objects.filter(key=campaign.key):
        note(by, account, sentence, reason)
    return reissue.replace_lost(campaign_pk)


def _check(campaign: Campaign, cents: int, budget_cents: int, reason: str) -> None:
    if cents < 1:
        raise GenieError("Add at least one cent.", code="bad-amount")
    if not reason.strip():
        raise GenieError("Give a reason for adding money.", code="reason-missing")
    if campaign.platform == ELSEWHERE:
        raise GenieError(
            "This work was imported, so it cannot be repeated here.",
            code="campaign-over",
        )
    if campaign.state == State.STOPPED:
        raise GenieError(
            "This campaign was stopped and cannot be resumed.", code="campaign-over"
        )
    if campaign.budget_cents != budget_cents:
        raise GenieError(
            f"The budget has changed from ${budget_cents / 100:,.2f} to "
            f"${campaign.budget_cents / 100:,.2f}; nothing was added. Reload the page.",
            code="budget-changed",
        )
