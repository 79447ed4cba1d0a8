"""What a place of a study pays beyond its answers: a place is paid in full."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Sum

from crowd.elsewhere.models.external import ExternalCampaign, ExternalSession
from crowd.elsewhere.services import reconcile
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.money.models import LedgerEntry
from crowd.money.services import budgets

State = Assignment.State
Entry = LedgerEntry.State
OVER = (Campaign.State.STOPPED, Campaign.State.COMPLETE)
WHOLE_PLACE = "A place is paid in full, even if fewer items were left to do."
STILL = (Entry.PLANNED, Entry.SENDING, Entry.DONE)


def pay_whole_places(campaign: Campaign) -> int:
    """Plan what a place pays beyond its answers, once its work is decided on."""
    place = ExternalCampaign.objects.get(campaign=campaign)
    names = {
        f"reward:session:{pk}" for pk in campaign.sessions.values_list("pk", flat=True)
    }
    known = (
        set(
            LedgerEntry.objects.filter(
                campaign=campaign, idempotency_key__startswith="reward:session:"
            ).values_list("idempotency_key", flat=True)
        )
        & names
    )
    n = 0
    decided = campaign.sessions.filter(status__in=["submitted", "approved"])
    for session in decided.order_by("pk"):
        if f"reward:session:{session.pk}" not in known and _is_earned(session):
            n += _plan_rest(campaign, place, session)
    return n


def _is_earned(session: ExternalSession) -> bool:
    # The platform pays the place then, whatever became of the answers here.
    if session.status == "approved":
        return True
    states = set(session.work.values_list("assignment__state", flat=True))
    return State.APPROVED in states and not states & {State.ACCEPTED, State.SUBMITTED}


@transaction.atomic
def _plan_rest(
    campaign: Campaign, place: ExternalCampaign, session: ExternalSession
) -> bool:
    # What was planned for single answers is part of what the place pays; a place is
    # never paid twice for the same work.
    entries = LedgerEntry.objects.filter(
        assignment__session_work__session=session, state__in=STILL
    )
    paid = {
        row["kind"]: row["n"]
        for row in entries.order_by().values("kind").annotate(n=Sum("amount_cents"))
    }
    keys = reconcile.keys_without_answer(session)
    reward = campaign.hit_type.reward_cents * place.place_size
    parts = (
        (keys[0], LedgerEntry.Kind.REWARD, reward),
        (keys[1], LedgerEntry.Kind.FEE, place.place_fee_cents),
    )
    for key, kind, whole in parts:
        cents = max(0, whole - paid.get(kind, 0))
        # An entry of nothing is kept, too: it says that this place has been settled.
        _, is_new = LedgerEntry.objects.get_or_create(
            idempotency_key=key,
            defaults={
                "campaign": campaign,
                "kind": kind,
                "amount_cents": cents,
                "reason": WHOLE_PLACE,
            },
        )
        if is_new and campaign.state in OVER:
            budgets.correct(campaign.key, cents)
    if session.status == "approved":
        reconcile.paid(session)
    return True
