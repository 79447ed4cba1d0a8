"""Visits that end early: approved work in them is paid by one bonus.

A person who returns a place, runs out of time or is screened out gets no reward there.
Their finished answers are reviewed as usual. The rewards of approved ones are sent as
one bonus for the visit, in addition to any pay for coming. The maximum was approved: it
is the part of the campaign's budget that its places do not need.
"""

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from crowd.campaigns.services import outbox
from crowd.elsewhere.models import ExternalCampaign, ExternalSession, OutwardCall
from crowd.elsewhere.services import study_places
from crowd.hits.models import Assignment, Campaign
from crowd.money.models import LedgerEntry as Entry
from crowd.money.services import budgets
from crowd.pricing import fee_per_assignment

Kind = OutwardCall.Kind
State = Assignment.State
ENDED = ("returned", "screened-out")
THANKS = "For the answers that you finished before your visit ended."
SHORT = "Visits that ended early are owed "


def entries_owed(campaign: Campaign | OuterRef) -> QuerySet[Entry]:
    """Return rewards, planned or due, for work in visits that ended early."""
    return Entry.objects.filter(
        campaign=campaign,
        kind=Entry.Kind.REWARD,
        state=Entry.State.PLANNED,
        assignment__session_work__session__status__in=ENDED,
    )


def paid_early(session: ExternalSession | OuterRef) -> QuerySet[OutwardCall]:
    return OutwardCall.objects.filter(session=session, kind=Kind.BONUS, entry=None)


def plan(campaign: Campaign, place: ExternalCampaign) -> None:
    sessions = (
        campaign.sessions.select_related("campaign", "worker")
        .filter(
            pk__in=entries_owed(campaign).values("assignment__session_work__session")
        )
        .exclude(Exists(paid_early(OuterRef("pk"))))
    )
    waiting = 0
    for session in sessions.order_by("pk"):
        cents = _due(session)
        if cents <= 0:
            continue
        cost = cents + fee_per_assignment(campaign.platform, cents)
        if cost > study_places.left_cents(campaign, place):
            waiting += cost
            continue
        _plan(session, cents, cost - cents)
    _tell(place, waiting)


@transaction.atomic
def _plan(session: ExternalSession, cents: int, fee: int) -> None:
    planned = entries_of(session).filter(kind=Entry.Kind.FEE)
    rest = max(0, fee - (planned.aggregate(n=Sum("amount_cents"))["n"] or 0))
    # The fee of one bonus is rounded differently from that of a place.
    _, is_new = Entry.objects.get_or_create(
        idempotency_key=fee_key(session),
        defaults={
            "campaign": session.campaign,
            "kind": Entry.Kind.FEE,
            "amount_cents": rest,
            "reason": THANKS,
        },
    )
    if is_new:
        budgets.correct(session.campaign.key, rest)
    outbox.plan(
        session.campaign,
        Kind.BONUS,
        f"early.{session.pk}",
        session=session,
        worker=session.worker,
        amount_cents=cents,
        message=THANKS,
    )


def fee_key(session: ExternalSession | None) -> str:
    return f"fee:early:{session.pk if session else 0}"


def _due(session: ExternalSession) -> int:
    work = Assignment.objects.filter(session_work__session=session)
    if work.filter(state__in=[State.ACCEPTED, State.SUBMITTED]).exists():
        return 0
    entries = entries_of(session).filter(
        kind=Entry.Kind.REWARD, state=Entry.State.PLANNED
    )
    return int(entries.aggregate(n=Sum("amount_cents"))["n"] or 0)


def entries_of(session: ExternalSession | None) -> QuerySet[Entry]:
    approved = Assignment.objects.filter(
        session_work__session=session, state=State.APPROVED
    )
    return Entry.objects.filter(
        Q(assignment__in=approved, kind__in=[Entry.Kind.REWARD, Entry.Kind.FEE])
        | Q(idempotency_key=fee_key(session))
    ).exclude(state=Entry.State.CANCELLED)


def _tell(place: ExternalCampaign, cents: int) -> None:
    rows = ExternalCampaign.objects.filter(pk=place.pk)
    if cents:
        rows.update(
            trouble=f"{SHORT}${cents / 100:,.2f}, more than the budget has left. Add "
            "money to the campaign; they are then paid automatically."
        )
    else:
        rows.filter(trouble__startswith=SHORT).update(trouble="")
