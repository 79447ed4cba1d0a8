"""Send decisions about work and workers to the platform, once each."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import OuterRef, QuerySet
from django.utils import timezone

from crowd.campaigns.services import outbox
from crowd.elsewhere.models import ExternalCampaign, ExternalSession, OutwardCall
from crowd.elsewhere.services import early_ends, foreign, reconcile
from crowd.elsewhere.services.collect import TWICE
from crowd.elsewhere.services.hit_offer import PORTION
from crowd.hits.models import Assignment, Campaign
from crowd.money.models import ExchangeRate, LedgerEntry
from crowd.money.selectors import rates
from crowd.money.services.bonuses import fee_key
from crowd.platforms.base import BonusSpec, DecisionSpec, Platform, Result, Sent
from crowd.workers.models.worker import Exclusion, Worker

Kind = OutwardCall.Kind
State = Assignment.State
Entry = LedgerEntry.State
OPEN = (State.ACCEPTED, State.SUBMITTED)
REJECTED = "The work does not follow the instructions of the HIT."


# --- decisions -------------------------------------------------------------------------


def decide(campaign: Campaign, platform: Platform, now: datetime) -> None:
    plan_decisions(campaign)
    calls = list(
        outbox.due(campaign, Kind.DECIDE).select_related("session__worker", "hit")
    )
    # Marked in portions just before they are sent, so if the process dies, only these
    # are in doubt.
    for first in range(0, len(calls), PORTION):
        taken = {
            call.key: (call, sent)
            for call, sent in outbox.take(calls[first : first + PORTION], now)
        }
        specs = [_decision(call, sent) for call, sent in taken.values()]
        # Each result is stored as it comes, because a later step may fail.
        for result in platform.decide(specs):
            call, sent = taken[result.key]
            _store_decision(call, sent, result, now)


def plan_decisions(campaign: Campaign) -> None:
    sessions = (
        ExternalSession.objects.filter(
            campaign=campaign, status__in=["submitted", "rejected"]
        )
        .prefetch_related("work__assignment", "outward_calls")
        .order_by("pk")
    )
    with transaction.atomic():
        for session in sessions:
            wish, message = _wish(session)
            already_told = {call.wish for call in session.outward_calls.all()}
            if wish and wish not in already_told:
                outbox.plan(
                    campaign,
                    Kind.DECIDE,
                    f"{session.pk}.{wish}",
                    session=session,
                    worker=session.worker,
                    wish=wish,
                    message=message,
                )


def _wish(session: ExternalSession) -> tuple[str, str]:
    assignments = [done.assignment for done in session.work.all()]
    if not assignments:
        # A second answer to the same HIT creates no assignment, but it was given in
        # good faith and is paid.
        waits = session.status == "submitted" and session.problem == TWICE
        return ("approve", "") if waits else ("", "")
    calls = session.outward_calls.all()
    if any(call.kind == Kind.BONUS and call.entry_id is None for call in calls):
        return "", ""  # paid for what was done, and submitted after all
    # A session may hold several assignments, and the platform takes one decision for
    # all. So it waits for the last, and one good answer is enough.
    if any(assignment.state in OPEN for assignment in assignments):
        return "", ""
    is_approved = any(assignment.state == State.APPROVED for assignment in assignments)
    if session.status == "rejected":
        return ("override", "") if is_approved else ("", "")
    if is_approved:
        return "approve", ""
    reasons = [
        assignment.feedback
        for assignment in assignments
        if assignment.state == State.REJECTED
    ]
    return ("reject", (reasons or [REJECTED])[0]) if reasons else ("", "")


def _decision(call: OutwardCall, sent: Sent) -> DecisionSpec:
    assert call.session is not None  # noqa: S101 - planned with one
    return DecisionSpec(
        call.key,
        call.session.session_id,
        call.wish,  # type: ignore[arg-type]
        call.message,
        call.session.worker.platform_worker_id,
        sent,
    )


def _store_decision(
    call: OutwardCall, sent: Sent, result: Result, now: datetime
) -> None:
    with transaction.atomic():
        call = outbox.note_result(call, sent, result, now)
        session = ExternalSession.objects.select_for_update(of=("self",)).get(
            pk=call.session_id or 0
        )
        if call.state == OutwardCall.State.DONE:
            rejected = call.wish == "reject"
            reconcile.follow(session, "rejected" if rejected else "approved")
        # The work was decided on the platform's own pages first; its message says how.
        elif call.code == "decided-otherwise":
            reconcile.follow(session, call.trouble)
        elif call.state == OutwardCall.State.FAILED and call.wish == "override":
            reconcile.reject_work(session, f"{reconcile.STANDS} {call.trouble}")


# --- bonuses ---------------------------------------------------------------------------


def pay_bonuses(campaign: Campaign, platform: Platform, now: datetime) -> None:
    _plan_bonuses(campaign)
    # A platform without tokens would pay a repeated bonus twice.
    repeatable = platform.capabilities.idempotent_bonus
    calls = outbox.due(campaign, Kind.BONUS).select_related("session__worker", "entry")
    taken = {
        call.key: (call, sent)
        for call, sent in outbox.take(calls, now, repeatable=repeatable)
    }
    if not taken:
        return
    place = ExternalCampaign.objects.select_related("rate").get(campaign=campaign)
    specs = [_bonus(call, sent, place.rate) for call, sent in taken.values()]
    for result in platform.bonus(specs):
        call, sent = taken[result.key]
        with transaction.atomic():
            call = outbox.note_result(call, sent, result, now)
            note_bonus(call)


def planned_bonuses(campaign: Campaign | OuterRef) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(
        campaign=campaign,
        kind=LedgerEntry.Kind.BONUS,
        state=Entry.PLANNED,
        assignment__session_work__isnull=False,
    ).order_by("pk")


def _plan_bonuses(campaign: Campaign) -> None:
    entries = planned_bonuses(campaign).select_related(
        "assignment__session_work__session__worker"
    )
    for entry in entries:
        assert entry.assignment is not None  # noqa: S101 - filtered for
        session = entry.assignment.session_work.session
        outbox.plan(
            campaign,
            Kind.BONUS,
            str(entry.pk),
            entry=entry,
            session=session,
            worker=session.worker,
            amount_cents=entry.amount_cents,
            message=entry.reason,
        )


def _bonus(call: OutwardCall, sent: Sent, rate: ExchangeRate | None) -> BonusSpec:
    assert call.session is not None  # noqa: S101 - planned with one
    return BonusSpec(
        call.key,
        call.session.worker.platform_worker_id,
        call.session.session_id,
        rates.there(call.amount_cents, rate),
        call.message or "Thank you.",
        sent,
        rate.currency if rate else rates.OURS,
    )


def note_bonus(call: OutwardCall) -> None:
    states = {
        OutwardCall.State.DONE: Entry.DONE,
        OutwardCall.State.FAILED: Entry.FAILED,
        OutwardCall.State.SENDING: Entry.SENDING,
        OutwardCall.State.PLANNED: Entry.PLANNED,
    }
    state = states[OutwardCall.State(call.state)]
    done = timezone.now() if state == Entry.DONE else None
    if call.entry is not None:
        # The fee has no call: the platform takes it together with the bonus.
        keys = [call.entry.idempotency_key, fee_key(call.entry.pk)]
        entries = LedgerEntry.objects.filter(idempotency_key__in=keys)
    else:
        # For a visit that ended early; what was refused stays owed.
        entries = early_ends.entries_of(call.session)
        state = Entry.PLANNED if state == Entry.FAILED else state
    if done is not None:
        foreign.note(call.campaign_id, entries)
    # Paid entries never change their state.
    entries.exclude(state=Entry.DONE).update(
        state=state, platform_id=call.platform_id, done_at=done
    )


# --- people ----------------------------------------------------------------------------


def keep_away(campaign: Campaign, platform: Platform, now: datetime) -> None:
    if not platform.capabilities.native_exclusion:
        return
    _plan_people(campaign)
    for call, sent in outbox.take(
        outbox.due(campaign, Kind.EXCLUDE, Kind.INCLUDE).select_related("worker"), now
    ):
        assert call.worker is not None  # noqa: S101 - planned with one
        name = call.worker.platform_worker_id
        if call.kind == Kind.EXCLUDE:
            result = platform.exclude(call.key, name, campaign.pool_id, call.message)
        else:
            result = platform.include(call.key, name, campaign.pool_id)
        outbox.note_result(call, sent, result, now)


def _plan_people(campaign: Campaign) -> None:
    known = Worker.objects.filter(platform=campaign.platform, sessions__isnull=False)
    shut_out = set(known.filter(excluded=True).values_list("pk", flat=True)) | set(
        Exclusion.objects.filter(
            pool=campaign.pool_id, worker__platform=campaign.platform
        ).values_list("worker", flat=True)
    )
    last_told = _last_told(campaign)
    kept_away = {pk for pk, kind in last_told.items() if kind == Kind.EXCLUDE}
    for kind, pks in (
        (Kind.EXCLUDE, shut_out - kept_away),
        (Kind.INCLUDE, kept_away - shut_out),
    ):
        for worker in Worker.objects.filter(pk__in=pks).order_by("pk"):
            # A worker may be excluded, readmitted and excluded again; the number makes
            # each change a separate call.
            n = OutwardCall.objects.filter(
                kind__in=[Kind.EXCLUDE, Kind.INCLUDE], worker=worker
            ).count()
            outbox.plan(campaign, kind, f"{worker.pk}.{n}", worker=worker)


def _last_told(campaign: Campaign) -> dict[int, str]:
    rows: Iterable[tuple[int | None, str]] = (
        OutwardCall.objects.filter(
            campaign__pool=campaign.pool_id,
            campaign__platform=campaign.platform,
            kind__in=[Kind.EXCLUDE, Kind.INCLUDE],
        )
        .exclude(state=OutwardCall.State.FAILED)
        .order_by("pk")
        .values_list("worker", "kind")
    )
    return {pk: kind for pk, kind in rows if pk}
