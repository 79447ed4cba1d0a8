"""Pay of a study's places beyond their answers: a place is paid in full."""

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Sum
from django.utils import timezone

from crowd.elsewhere.models import ExternalCampaign, ExternalSession
from crowd.elsewhere.services import foreign, reconcile
from crowd.elsewhere.services.attested import terms_of
from crowd.elsewhere.services.early_ends import paid_early
from crowd.hits.models import Assignment, Campaign
from crowd.money.models import LedgerEntry
from crowd.pricing import fee_per_assignment

State = Assignment.State
Entry = LedgerEntry.State
Kind = LedgerEntry.Kind
WHOLE_PLACE = "A place is paid in full, even if fewer items were left to do."
SCREENED_OUT = (
    "There was no work left for this visit. The platform pays a fixed amount for it."
)
STILL = (Entry.PLANNED, Entry.SENDING, Entry.DONE)


def pay_whole_places(campaign: Campaign) -> None:
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
    # A place with early ends paid separately is not whole, unless the platform says so.
    decided = campaign.sessions.filter(status__in=["submitted", "approved"]).exclude(
        Q(status="submitted") & Exists(paid_early(OuterRef("pk")))
    )
    for session in decided.order_by("pk"):
        if f"reward:session:{session.pk}" not in known and _is_earned(session):
            _plan_rest(campaign, place, session)


def note_screen_outs(campaign: Campaign) -> None:
    place = ExternalCampaign.objects.select_related("rate").get(campaign=campaign)
    cents = terms_of(place).screen_out_cents
    if not cents:
        return
    fee = fee_per_assignment(campaign.platform, cents)
    for session in campaign.sessions.filter(status="screened-out").order_by("pk"):
        with transaction.atomic():
            if reconcile.owe(
                session,
                cents,
                fee,
                SCREENED_OUT,
                state=Entry.DONE,
                platform_id=session.session_id[:100],
                done_at=timezone.now(),
            ):
                keys = reconcile.keys_without_answer(session)
                own = LedgerEntry.objects.filter(idempotency_key__in=keys)
                foreign.note(campaign.pk, own)


def _is_earned(session: ExternalSession) -> bool:
    # The platform then pays the place, whatever the state of the answers here.
    if session.status == "approved":
        return True
    states = set(session.work.values_list("assignment__state", flat=True))
    return State.APPROVED in states and not states & {State.ACCEPTED, State.SUBMITTED}


@transaction.atomic
def _plan_rest(
    campaign: Campaign, place: ExternalCampaign, session: ExternalSession
) -> None:
    # Pay planned for single answers is part of the place's pay. A place is never paid
    # twice for the same work.
    entries = LedgerEntry.objects.filter(
        assignment__session_work__session=session, state__in=STILL
    )
    paid = {
        row["kind"]: row["n"]
        for row in entries.order_by().values("kind").annotate(n=Sum("amount_cents"))
    }
    reward = campaign.hit_type.reward_cents * place.place_size
    reconcile.owe(
        session,
        max(0, reward - paid.get(Kind.REWARD, 0)),
        max(0, place.place_fee_cents - paid.get(Kind.FEE, 0)),
        WHOLE_PLACE,
    )
    if session.status == "approved":
        reconcile.paid(session)
