"""Bonuses for work that paid too little an hour, to all its workers."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext, ngettext

from crowd.hits.models import Campaign
from crowd.hits.selectors import campaign_progress, title_now
from crowd.messages import services
from crowd.messages.models import Message
from crowd.money.models import LedgerEntry
from crowd.money.selectors.fair_pay import Owed, Shortfall, bonuses_owed, shortfall
from crowd.money.services import budgets
from crowd.money.services.bonuses import fee_key
from genie.lib.admin import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

OVER = (Campaign.State.COMPLETE, Campaign.State.STOPPED)
REASON = "Topped up to the minimum hourly pay."
BATCH = 2_000


@transaction.atomic
def make_up(
    campaign_pk: int, *, by: AbstractBaseUser, agreed_cents: int
) -> Shortfall | None:
    """Plan the same bonus for each approved answer, once; None if nothing is missing.

    If a platform pays, an outward call tells it, and it takes its fee.

    Raises
    ------
    GenieError
        ``campaign-not-over`` while answers come in, ``cost-changed`` if the cost is not
        the agreed one, ``over-budget`` if the pool's or the site's budget has no room.
    """
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    _check(campaign)
    missing = shortfall(campaign)
    if missing is None:
        return None
    # The person agreed to a price on a page that may be old; answers approved since
    # then change it.
    if missing.total_cents != agreed_cents:
        raise GenieError(
            f"This now costs ${missing.total_cents / 100:,.2f}, not "
            f"${agreed_cents / 100:,.2f}. Please check it again.",
            code="cost-changed",
        )
    settled = budgets.add(campaign, missing.total_cents, by)
    # Computed before the bonuses are planned, because afterwards none is missing.
    bonuses = bonuses_owed(
        campaign, campaign_progress(campaign).median_active_seconds or 0
    )
    _plan(campaign, bonuses)
    _tell(campaign, bonuses, missing)
    # The account was closed when the campaign ended; it is closed again at the new sum.
    if settled:
        budgets.settle(campaign.key, campaign_progress(campaign).spent_cents)
    note(
        by,
        campaign,
        f"Planned a bonus of {'' if missing.is_even else 'up to '}"
        f"{missing.each_cents} ¢ for each of {missing.n_assignments} approved answers.",
    )
    return missing


def _check(campaign: Campaign) -> None:
    if campaign.state not in OVER:
        raise GenieError(
            "The median time is not final while answers come in. Wait until the "
            "campaign is over.",
            code="campaign-not-over",
        )


def _plan(campaign: Campaign, bonuses: list[Owed]) -> None:
    entries = LedgerEntry.objects.bulk_create(
        [
            LedgerEntry(
                idempotency_key=bonus.key,
                campaign=campaign,
                assignment_id=bonus.assignment,
                kind=LedgerEntry.Kind.BONUS,
                amount_cents=bonus.cents,
                reason=REASON,
            )
            for bonus in bonuses
        ],
        batch_size=BATCH,
    )
    LedgerEntry.objects.bulk_create(
        [
            LedgerEntry(
                idempotency_key=fee_key(entry.pk),
                campaign=campaign,
                kind=LedgerEntry.Kind.FEE,
                amount_cents=bonus.fee_cents,
                reason="For a bonus.",
            )
            for bonus, entry in zip(bonuses, entries, strict=True)
            if bonus.fee_cents
        ],
        batch_size=BATCH,
    )


def _tell(campaign: Campaign, bonuses: list[Owed], missing: Shortfall) -> None:
    n_of: dict[int, int] = defaultdict(int)
    cents_of: dict[int, int] = defaultdict(int)
    for bonus in bonuses:
        n_of[bonus.worker] += bonus.n_answers
        cents_of[bonus.worker] += bonus.cents
    language_of = services.languages_of(n_of)
    told = []
    for worker, n in sorted(n_of.items()):
        with translation.override(language_of[worker]):
            said = _words(campaign, missing, n, cents_of[worker])
        kind, pool = Message.Kind.BONUS, campaign.pool_id
        told.append(Message(worker_id=worker, kind=kind, pool_id=pool, **said))
    services.send_many(told)


def _words(
    campaign: Campaign, missing: Shortfall, n: int, cents: int
) -> dict[str, Any]:
    said = {
        "title": title_now(campaign.hit_type),
        "n": n,
        "each": f"${missing.each_cents / 100:,.2f}",
        "sum": f"${cents / 100:,.2f}",
    }
    text = ngettext(
        "“%(title)s” took longer than we expected. To make up for this, you get a bonus "
        "for %(n)s HIT, %(sum)s in total. You do not need to do anything.",
        "“%(title)s” took longer than we expected. To make up for this, you get a bonus "
        "for %(n)s HITs, %(sum)s in total. You do not need to do anything.",
        n,
    )
    if missing.is_even:
        text = ngettext(
            "“%(title)s” took longer than we expected. To make up for this, you get "
            "%(each)s more for %(n)s HIT, %(sum)s in total. You do not need to do "
            "anything.",
            "“%(title)s” took longer than we expected. To make up for this, you get "
            "%(each)s more for each of %(n)s HITs, %(sum)s in total. You do not need to "
            "do anything.",
            n,
        )
    return {"subject": gettext("A bonus of %(sum)s") % said, "text": text % said}
