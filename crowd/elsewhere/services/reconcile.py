"""Bring our decisions into line with the platform's; its decisions are final.

Money follows the platform: a reward and its fee are done when it reports the work as
approved, not earlier.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from crowd.campaigns.services import review
from crowd.elsewhere.models import ExternalCampaign, ExternalSession
from crowd.elsewhere.services import foreign
from crowd.hits.models import HIT, Assignment, Campaign
from crowd.money.models import LedgerEntry
from crowd.money.services import budgets, payments

State = Assignment.State
Entry = LedgerEntry.State
OVER = (Campaign.State.STOPPED, Campaign.State.COMPLETE)
FOR_WORK = (LedgerEntry.Kind.REWARD, LedgerEntry.Kind.FEE)
THERE = "Rejected on the platform."
STANDS = "The platform did not reverse the rejection:"
OVERTAKEN = "The platform had approved this before the rejection reached it."


def follow(session: ExternalSession, status: str) -> None:
    """Apply the platform's state of a session; callers lock its row.

    Old news changes nothing: approved work stays approved.
    """
    # A late "submitted" says nothing about a session that was decided.
    late = session.status == "rejected" and status == "submitted"
    if late or session.status in (status, "approved"):
        return
    ExternalSession.objects.filter(pk=session.pk).update(status=status)
    session.status = status
    if status == "approved":
        _mark_approved(session)
    elif status == "rejected":
        _mark_rejected(session)


def _mark_approved(session: ExternalSession) -> None:
    now = timezone.now()
    for assignment in _work(session):
        waiting = Assignment.objects.filter(pk=assignment.pk, state=State.SUBMITTED)
        waiting.update(state=State.APPROVED, decided_at=now)
        if assignment.state == State.REJECTED:
            _overturn(assignment)
    paid(session)


def _overturn(assignment: Assignment) -> None:
    campaign = Campaign.objects.select_for_update(of=("self",)).get(
        hits=assignment.hit_id
    )
    changed = Assignment.objects.filter(pk=assignment.pk, state=State.REJECTED).update(
        state=State.APPROVED,
        overturned_at=timezone.now(),
        feedback=f"{assignment.feedback} {OVERTAKEN}".strip()[:1024],
    )
    if not changed:
        return
    cents = payments.plan_after_all(assignment, OVERTAKEN)
    if campaign.state in OVER:
        budgets.correct(campaign.key, cents)
    elif assignment.replaced_at is None:
        hits = HIT.objects.filter(pk=assignment.hit_id)
        if not hits.filter(n_available__gt=0).update(n_available=F("n_available") - 1):
            hits.update(max_assignments=F("max_assignments") + 1)


def _mark_rejected(session: ExternalSession) -> None:
    for assignment in _work(session):
        if assignment.state == State.SUBMITTED:
            review.reject(assignment.pk, None, THERE)


def reject_work(session: ExternalSession, why: str) -> None:
    for assignment in _work(session):
        # Submitted first, because only submitted work can be rejected.
        Assignment.objects.filter(pk=assignment.pk, state=State.APPROVED).update(
            state=State.SUBMITTED
        )
        review.reject(assignment.pk, None, why)


def paid(session: ExternalSession) -> int:
    """Mark the approved work of a session as paid by the platform, once."""
    approved = Assignment.objects.filter(
        session_work__session=session, state=State.APPROVED
    )
    # Cancelled entries, too: if the platform's approval came before our rejection, the
    # money is spent.
    entries = LedgerEntry.objects.filter(
        Q(assignment__in=approved, kind__in=FOR_WORK)
        | Q(idempotency_key__in=keys_without_answer(session))
    )
    n = entries.filter(
        state__in=[Entry.PLANNED, Entry.SENDING, Entry.CANCELLED]
    ).update(
        state=Entry.DONE, platform_id=session.session_id[:100], done_at=timezone.now()
    )
    if n:
        place = (
            ExternalCampaign.objects.select_related("rate", "campaign__hit_type")
            .filter(campaign=session.campaign_id)
            .exclude(rate=None)
            .first()
        )
        if place is not None:
            foreign.note(session.campaign_id, entries, foreign.of_place(place))
    return n


def owe(
    session: ExternalSession, reward: int, fee: int, reason: str, **more: Any
) -> bool:
    """Store what a visit costs beyond its stored answers, once; tell if it is new."""
    is_new = False
    keys = keys_without_answer(session)
    for key, kind, cents in zip(keys, FOR_WORK, (reward, fee), strict=True):
        # Entries of 0 are stored, too, to mark that this place has been settled.
        _, made = LedgerEntry.objects.get_or_create(
            idempotency_key=key,
            defaults={
                "campaign": session.campaign,
                "kind": kind,
                "amount_cents": cents,
                "reason": reason,
                **more,
            },
        )
        if made:
            is_new = True
            budgets.correct(session.campaign.key, cents)
    return is_new


def keys_without_answer(session: ExternalSession) -> tuple[str, str]:
    """Return the payment keys of a session without an answer that we can store."""
    return f"reward:session:{session.pk}", f"fee:session:{session.pk}"


def _work(session: ExternalSession) -> Iterable[Assignment]:
    return Assignment.objects.filter(session_work__session=session).order_by("pk")
