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
from crowd.money.services import budgets
from crowd.pricing import fee_per_assignment

State = Assignment.State
Entry = LedgerEntry.State
Kind = LedgerEntry.Kind
OVER = (Campaign.State.STOPPED, Campaign.State.COMPLETE)
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
        keys = reconcile.keys_without_answer(session)
        parts = ((keys[0], Kind.REWARD, cents), (keys[1], Kind.FEE, fee))
        with transaction.atomic():
            made = [
                LedgerEntry.objects.get_or_create(
                    idempotency_key=key,
                    defaults={
                        "campaign": campaign,
                        "kind": kind,
                        "state": Entry.DONE,
                        "amount_cents": amount,
                        "reason": SCREENED_OUT,
                        "platform_id": session.session_id[:100],
                        "done_at": timezone.now(),
                    },
                )[1]
                for key, kind, amount in parts
            ]
            if any(made):
                own = LedgerEntry.objects.filter(idempotency_key__in=keys)
                foreign.note(campaign.pk, own)
                if campaign.state in OVER:
                    budgets.correct(campaign.key, cents + fee)


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
    keys = reconcile.keys_without_answer(session)
    reward = campaign.hit_type.reward_cents * place.place_size
    parts = ((keys[0], Kind.REWARD, reward), (keys[1], Kind.FEE, place.place_fee_cents))
    for key, kind, whole in parts:
        cents = max(0, whole - paid.get(kind, 0))
        # Entries of 0 are stored, too, to mark that this place has been settled.
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
