"""A campaign as one study on a platform whose people come to our pages."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.urls import reverse

from crowd import hit_templates
from crowd.campaigns.services import outbox
from crowd.elsewhere.models import ExternalCampaign, ExternalSession, OutwardCall
from crowd.elsewhere.services import (
    attested,
    early_ends,
    hit_offer,
    reconcile,
    study_places,
)
from crowd.elsewhere.services.decisions import OPEN
from crowd.hits.models import Assignment, Campaign
from crowd.hits.services.build import take_back_slot
from crowd.money.models import LedgerEntry
from crowd.money.selectors import rates
from crowd.platforms.base import (
    CampaignSpec,
    ExternalRef,
    Identity,
    MoreSpec,
    Platform,
    Result,
    SessionEvent,
)
from crowd.pricing import dollars
from crowd.workers.services.invitations import register_worker
from genie.lib.errors import GenieError

Kind = OutwardCall.Kind
State = Assignment.State
Entry = LedgerEntry.State
OVER = (Campaign.State.STOPPED, Campaign.State.COMPLETE)
LONGEST_SECONDS = 23 * 3600
PAID_EARLY = (
    "Returned, paid in part, and then submitted after all. Decide on the platform."
)
DENIED = "The platform does not know this visit."
NOTHING = "Submitted on the platform, but without answers here."


def advance(
    campaign: Campaign, place: ExternalCampaign, platform: Platform, now: datetime
) -> None:
    if campaign.state == Campaign.State.RUNNING:
        if not place.platform_id:
            _publish(campaign, place, platform, now)
        else:
            attested.note_late(campaign, place)
        if place.platform_id and not place.is_open:
            hit_offer.switch(campaign, place, platform, Kind.RESUME, now)
        return
    _find_lost(campaign, place, platform, now)
    if place.is_open or outbox.due(campaign, Kind.CLOSE).exists():
        hit_offer.switch(campaign, place, platform, Kind.CLOSE, now)


# --- the offer -------------------------------------------------------------------------


def _publish(
    campaign: Campaign, place: ExternalCampaign, platform: Platform, now: datetime
) -> None:
    call = OutwardCall.objects.filter(campaign=campaign, kind=Kind.PUBLISH).first()
    if call is None:
        call = _store_cost(campaign, place, platform)
    if call is None or call.state == OutwardCall.State.FAILED:
        return
    for taken, sent in outbox.take([call], now):
        spec = spec_of(
            campaign, place, hit_offer.spec_of(campaign, taken.key, sent), call.n
        )
        done = outbox.note_result(taken, sent, platform.publish(spec), now)
        ExternalCampaign.objects.filter(pk=place.pk).update(
            platform_id=done.platform_id,
            url=platform.page_of(ExternalRef(done.platform_id))
            if done.platform_id
            else "",
            is_open=bool(done.platform_id),
            trouble=done.trouble,
        )


def _find_lost(
    campaign: Campaign, place: ExternalCampaign, platform: Platform, now: datetime
) -> None:
    """Look up whether a study was created whose response was lost before the end.

    This neither creates nor opens a study, because a stopped campaign asks no one.
    """
    call = OutwardCall.objects.filter(
        campaign=campaign, kind=Kind.PUBLISH, state=OutwardCall.State.SENDING
    ).first()
    if call is None:
        return
    name = platform.find(call.key)
    if name:
        result = Result(call.key, "done", name)
    else:
        over = campaign.state in OVER
        result = Result(
            call.key, "refused" if over else "again", message="Not on the platform."
        )
    outbox.note_result(call, "lately", result, now)
    place.platform_id, place.is_open = name, bool(name)
    place.save(update_fields=["platform_id", "is_open"])


def _store_cost(
    campaign: Campaign, place: ExternalCampaign, platform: Platform
) -> OutwardCall | None:
    """Store the study with its cost; None if money is missing.

    Refuses requirements that the platform cannot check, and currencies without a rate.
    """
    attested.settle(campaign, place, platform)
    rate = rates.rate_of(platform.currency())
    balance = platform.balance_cents()
    for_screened_out = study_places.screen_out_cents(campaign, place)
    total = campaign.hits.aggregate(n=Sum("max_assignments"))["n"] or 0
    items_per_place = int(settings.GENIE["PROLIFIC_ITEMS_PER_PLACE"])
    # If places of the wanted size cost too much, a cut without remainder may be
    # cheaper.
    for cut in study_places.cuts(total, items_per_place):
        reward = campaign.hit_type.reward_cents * cut.size
        # in cents of the account's currency
        bill = platform.quote(
            reward_cents=rates.there(reward, rate),
            n_items=cut.n_places,
            n_test_questions=0,
        )
        cents = rates.here(bill.total_cents, rate)
        if cents + for_screened_out <= campaign.budget_cents:
            break
    else:
        hit_offer.note_trouble(
            place,
            f"{cut.n_places} places of {cut.size} items cost "
            f"{rates.format_amount(cents + for_screened_out, rate)}, but only {dollars(campaign.budget_cents)} "
            "was approved.",
        )
        return None
    needed = bill.total_cents + rates.there(for_screened_out, rate)
    if balance is not None and balance < needed:
        hit_offer.note_trouble(
            place,
            f"The study costs {rates.format_amount(cents + for_screened_out, rate)}, but the "
            f"account on the platform has {rates.in_full(balance, rate)}. Add money to it; the study is then "
            "published automatically.",
        )
        return None
    with transaction.atomic():
        place.place_size = cut.size
        # Rounded up: a place must never be booked for less than the platform takes.
        place.place_fee_cents = max(0, -(-cents // cut.n_places) - reward)
        place.place_cost = -(-bill.total_cents // cut.n_places)
        place.rate = rate
        place.balance_cents = None if balance is None else rates.here(balance, rate)
        place.save(update_fields=_PRICED)
        # The rest of a place's fee is planned with the place; see `whole_places`.
        campaign.fee_cents = place.place_fee_cents // cut.size
        campaign.save(update_fields=["fee_cents"])
        return outbox.plan(
            campaign, Kind.PUBLISH, str(campaign.pk), n=cut.n_places, amount_cents=cents
        )


_PRICED = [
    *("place_size", "place_fee_cents", "place_cost", "rate", "balance_cents"),
    "attested",
]


def spec_of(
    campaign: Campaign, place: ExternalCampaign, of_one: CampaignSpec, n_places: int
) -> CampaignSpec:
    site = str(settings.GENIE["SITE_URL"]).rstrip("/")
    if place.environment == "production" and not site.startswith("https://"):
        raise GenieError(
            f"GENIE_SITE_URL is {site}, an address that platforms cannot send people "
            "to.",
            code="platform-not-configured",
        )
    seconds = hit_templates.get(campaign.hit_type.template).seconds
    size = place.place_size
    terms = attested.terms_of(place)
    return CampaignSpec(
        key=of_one.key,
        title=of_one.title,
        description=of_one.description,
        keywords=of_one.keywords,
        reward_cents=rates.there(of_one.reward_cents * size, place.rate),
        assignment_seconds=min(of_one.assignment_seconds * size, LONGEST_SECONDS),
        pool=of_one.pool,
        expected_seconds=round(seconds * size),
        n_places=n_places,
        url=site + reverse("work:arrive", args=[campaign.platform, campaign.pk]),
        requirements=attested.attested_requirements(place),
        study=replace(
            terms, screen_out_cents=rates.there(terms.screen_out_cents, place.rate)
        ),
        currency=place.rate.currency if place.rate else rates.OURS,
        simulated=campaign.simulated,
        sent=of_one.sent,
    )


def ask_for_more(campaign: Campaign, platform: Platform, now: datetime) -> None:
    """Ask for places if work went back and no place is free for it.

    Runs after decisions were sent: a place whose work was rejected or returned becomes
    free automatically.
    """
    place = ExternalCampaign.objects.get(campaign=campaign)
    if campaign.state != Campaign.State.RUNNING or not place.platform_id:
        return
    if not outbox.due(campaign, Kind.EXTEND).exists():
        _plan_places(campaign, place)
    before = study_places.n_places_told(campaign)
    for call, sent in outbox.take(outbox.due(campaign, Kind.EXTEND), now):
        # `before` already counts this row.
        spec = MoreSpec(call.key, "", call.n, before - call.n, sent)
        ref = ExternalRef(place.platform_id)
        for result in platform.add_capacity(ref, [spec]):
            done = outbox.note_result(call, sent, result, now)
            ExternalCampaign.objects.filter(pk=place.pk).update(trouble=done.trouble)


def _plan_places(campaign: Campaign, place: ExternalCampaign) -> None:
    n = study_places.missing_places(campaign, place)
    if not n:
        return
    price = study_places.price_cents(campaign, place)
    there = study_places.n_places_told(campaign)
    affordable = study_places.left_cents(campaign, place) // price if price else n
    if affordable < n:
        hit_offer.note_trouble(
            place,
            f"{n} more places are needed, but the budget pays for only "
            f"{max(0, affordable)}.",
        )
    if (more := min(n, affordable)) > 0:
        outbox.plan(
            campaign,
            Kind.EXTEND,
            f"{campaign.pk}.{there}",
            n=more,
            amount_cents=more * price,
        )


# --- what comes back -------------------------------------------------------------------


def take_in(campaign: Campaign, events: Iterable[SessionEvent]) -> int:
    n = 0
    for event in events:
        if event.worker_id:
            n += _follow(campaign, event)
    return n


@transaction.atomic
def _follow(campaign: Campaign, event: SessionEvent) -> bool:
    worker = register_worker(
        platform_worker_id=event.worker_id,
        platform=campaign.platform,
        simulated=campaign.simulated,
    )
    session, _ = ExternalSession.objects.get_or_create(
        campaign=campaign,
        session_id=event.session_id,
        worker=worker,
        defaults={"status": "started", "accepted_at": event.accepted_at},
    )
    # Two looks at once take turns here.
    session = ExternalSession.objects.select_for_update(of=("self",)).get(pk=session.pk)
    before = session.status
    if before in {"returned", "screened-out"} and event.status == "started":
        return False  # old news
    problem = event.message
    if event.status == "submitted":
        if not session.work.exists():
            problem = NOTHING
        elif early_ends.paid_early(session).exists():
            problem = PAID_EARLY
    ExternalSession.objects.filter(pk=session.pk).update(
        problem=problem[:300],
        submitted_at=event.submitted_at,
        raw=event.raw,
        is_vouched=True,
    )
    reconcile.follow(session, event.status)
    if event.status in {"returned", "screened-out"} and before != event.status:
        take_back(session)
    return before != event.status


def ask_again(sessions: QuerySet[ExternalSession], platform: Platform) -> None:
    """Ask the platform again about visits it could not confirm when they began.

    Also about denied visits with work that came in during the denial.
    """
    late = Q(is_vouched=False, work__assignment__state__in=OPEN)
    asked = sessions.filter(Q(is_vouched=None) | late).distinct()
    for session in asked.select_related("worker", "campaign__external"):
        who = Identity(
            session.worker.platform_worker_id,
            session.session_id,
            session.campaign.external.platform_id,
        )
        answer = platform.vouches_for(who)
        if answer is not None:
            _note_answer(session, answer)


@transaction.atomic
def _note_answer(session: ExternalSession, is_vouched: bool) -> None:
    """Store whether the platform confirms a visit; a denied one is not paid."""
    row = ExternalSession.objects.select_for_update(of=("self",)).get(pk=session.pk)
    if row.is_vouched:
        return  # The platform has listed it meanwhile.
    row.is_vouched = is_vouched
    if not is_vouched:
        row.status, row.problem = "rejected", DENIED
        take_back(row)
        reconcile.reject_work(row, DENIED)
    row.save(update_fields=["is_vouched", "status", "problem"])


def take_back(session: ExternalSession) -> int:
    """Free the work that a person who returned their place had begun; return how much.

    Finished work stays: it is reviewed and paid; see `early_ends`.
    """
    begun = Assignment.objects.filter(
        session_work__session=session, state=State.ACCEPTED
    ).order_by("pk")
    return sum(take_back_slot(one.pk, one.hit_id, State.RETURNED) for one in begun)
