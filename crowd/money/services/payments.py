"""The ledger: each payment is planned once, done once, or cancelled.

An entry is planned in the transaction of its cause, under a key that makes planning
idempotent. It is done when the payout or the platform reports it. Entries are never
deleted; what is not owed any more is cancelled.
"""

from django.db.models import Sum

from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import terms_of
from crowd.money.models import LedgerEntry

Kind = LedgerEntry.Kind
State = LedgerEntry.State


def plan(assignment: Assignment, campaign: Campaign, suffix: str = "") -> int:
    """Plan the reward and the platform's fee; return the cents.

    Planning again changes nothing, because the keys are the same. With a suffix, what
    was cancelled when the assignment was rejected gets new entries.
    """
    parts = [(f"reward{suffix}:{assignment.pk}", Kind.REWARD, assignment.reward_cents)]
    # A fee belongs to a reward: the HIT's, if the campaign's has changed since.
    fee = terms_of(assignment.hit, campaign).fee_cents if campaign.fee_cents else 0
    if fee:
        parts.append((f"fee{suffix}:{assignment.pk}", Kind.FEE, fee))
    LedgerEntry.objects.bulk_create(
        [
            LedgerEntry(
                idempotency_key=key,
                campaign=campaign,
                assignment=assignment,
                kind=kind,
                amount_cents=cents,
            )
            for key, kind, cents in parts
        ],
        ignore_conflicts=True,
    )
    return sum(cents for _, _, cents in parts)


def plan_after_all(assignment: Assignment, reason: str) -> int:
    """Plan what was cancelled under its own keys, as a platform pays it once.

    Callers open the transaction.
    """
    cancelled = LedgerEntry.objects.filter(assignment=assignment, state=State.CANCELLED)
    cents = sum(cancelled.values_list("amount_cents", flat=True))
    cancelled.update(state=State.PLANNED, reason=reason)
    return cents


def cancel(assignment_pk: int, reason: str) -> int:
    """Cancel an assignment's planned payments; return the cents saved.

    Callers open the transaction and lock the assignment's row.
    """
    planned = LedgerEntry.objects.filter(
        assignment=assignment_pk,
        state=State.PLANNED,
        # A bonus has a separate reason, so it stays when the reward is cancelled.
    ).exclude(kind=Kind.BONUS)
    saved = planned.aggregate(cents=Sum("amount_cents"))["cents"] or 0
    planned.update(state=State.CANCELLED, reason=reason[:300])
    return saved
