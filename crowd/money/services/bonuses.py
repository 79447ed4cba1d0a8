"""Bonuses: planned once for each reason, within the budgets, paid by the work's payer."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from django.db import transaction

from crowd.hits.models import ELSEWHERE, Assignment, Campaign
from crowd.hits.selectors import campaign_progress
from crowd.money.models import LedgerEntry
from crowd.money.services import budgets
from crowd.pricing import fee_per_assignment
from genie.lib.admin import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

Kind = LedgerEntry.Kind
PAID = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)


@transaction.atomic
def give(
    assignment_pk: int,
    cents: int,
    *,
    key: str,
    reason: str,
    by: AbstractBaseUser,
    rejected_too: bool = False,
) -> LedgerEntry:
    """Plan a bonus for an answer and set its money aside; once per key.

    Raises
    ------
    GenieError
        ``no-bonus`` for no amount or rejected work, ``over-budget`` if the pool's or
        the site's budget has no room.
    """
    # The campaign's row is the lock: a form that is sent twice runs twice in turn, and
    # the second finds the first's entry.
    campaign = Campaign.objects.select_for_update(of=("self",)).get(
        hits__assignments=assignment_pk
    )
    if campaign.platform == ELSEWHERE:
        raise GenieError(
            "This work was imported, so it cannot be paid here.",
            code="elsewhere",
        )
    assignment = Assignment.objects.get(pk=assignment_pk)
    name = f"bonus:{assignment_pk}:{key}"[:64]
    existing = LedgerEntry.objects.filter(idempotency_key=name).first()
    if existing is not None:
        return existing
    # Rejected work gets one only if its rejection cannot be reversed.
    is_payable = assignment.state in PAID or (
        rejected_too and assignment.state == Assignment.State.REJECTED
    )
    if cents < 1 or not is_payable:
        raise GenieError(
            "A bonus must be at least one cent, for work that was not rejected.",
            code="no-bonus",
        )
    fee = fee_per_assignment(campaign.platform, cents)
    settled = budgets.add(campaign, cents + fee, by)
    entry = LedgerEntry.objects.create(
        idempotency_key=name,
        campaign=campaign,
        assignment=assignment,
        kind=Kind.BONUS,
        amount_cents=cents,
        reason=reason[:300],
    )
    if fee:
        LedgerEntry.objects.create(
            idempotency_key=fee_key(entry.pk),
            campaign=campaign,
            kind=Kind.FEE,
            amount_cents=fee,
            reason="For a bonus.",
        )
    # The account was closed when the campaign ended; it is closed again at the new sum.
    if settled:
        budgets.settle(campaign.key, campaign_progress(campaign).spent_cents)
    note(by, campaign, f"Planned a bonus of {cents} ¢: {reason}"[:300])
    return entry


def give_once(
    assignment_pk: int, cents: int, reason: str, *, by: AbstractBaseUser
) -> LedgerEntry:
    """Plan a bonus; the same sum for the same reason is the same bonus."""
    key = hashlib.sha256(f"{cents}|{reason.strip()}".encode()).hexdigest()
    return give(assignment_pk, cents, key=key, reason=reason, by=by)


def fee_key(entry_pk: int) -> str:
    return f"bonus-fee:{entry_pk}"
