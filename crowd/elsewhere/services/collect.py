"""Store work done on other platforms as assignments and answers, as if done here.

Platforms report the states of sessions again and again, in any order. The first report
of submitted work creates an assignment with its answers, once. Every report brings our
decisions and payments into line with the platform's (`reconcile`). Work with unreadable
answers creates an assignment without ratings, because it was done and is paid.
"""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from crowd.campaigns.services import outbox, work
from crowd.elsewhere.models import ExternalSession, SessionWork
from crowd.elsewhere.services import reconcile
from crowd.elsewhere.services.hit_offer import Pages
from crowd.hits.models import HIT, Assignment, Campaign
from crowd.hits.selectors import language_for, terms_of
from crowd.hits.services.build import add_slot, room, take_slot
from crowd.hits.services.check_answers import (
    CheckedRating,
    clean_remark,
    plausible_seconds,
    ratings_of,
)
from crowd.platforms.base import SessionEvent, SessionStatus
from crowd.workers.models.worker import Worker
from crowd.workers.services.invitations import register_worker
from genie.lib.errors import GenieError

State = Assignment.State
SENT_IN = ("submitted", "approved", "rejected")
UNREADABLE = "The answers could not be used: "
TWICE = "This worker has already answered the HIT; the first answer counts."


def collect(campaign: Campaign, events: Iterable[SessionEvent], pages: Pages) -> int:
    """Store the news that a platform reports; return how many answers came.

    Any event may come any number of times, in any order.
    """
    n = 0
    heard, failure = _all_of(events)
    names = outbox.posted_hits(campaign)[0] if heard else {}
    hits = {name: pk for pk, name in names.items()}
    # In the order of submission, whatever order they arrive in, so the same answers
    # create the same rows.
    for event in sorted(heard, key=_order_of_submission):
        hit = hits.get(event.hit_id)
        if hit is None:
            continue  # of no HIT that we know to be ours
        n += _take_in(campaign, event, hit, pages)
    # Raised only now, so that events before the failure are stored.
    if failure is not None:
        raise failure
    return n


def _all_of(
    events: Iterable[SessionEvent],
) -> tuple[list[SessionEvent], GenieError | None]:
    heard: list[SessionEvent] = []
    try:
        heard.extend(events)
    except GenieError as error:
        return heard, error
    return heard, None


def _order_of_submission(event: SessionEvent) -> tuple[bool, float, str]:
    at = event.submitted_at
    return at is None, at.timestamp() if at else 0.0, event.session_id


def arrive(
    campaign: Campaign,
    worker: Worker,
    session_id: str,
    status: SessionStatus,
    is_vouched: bool | None = True,
) -> ExternalSession:
    session, _ = ExternalSession.objects.get_or_create(
        campaign=campaign,
        session_id=session_id,
        worker=worker,
        defaults={
            "status": status,
            "accepted_at": timezone.now(),
            "is_vouched": is_vouched,
        },
    )
    return session


def record_work(session: ExternalSession, assignment: Assignment) -> None:
    SessionWork.objects.get_or_create(
        assignment=assignment, defaults={"session": session}
    )


def _take_in(
    campaign: Campaign, event: SessionEvent, hit_pk: int, pages: Pages
) -> bool:
    new = False
    with transaction.atomic():
        worker = register_worker(
            platform_worker_id=event.worker_id,
            platform=campaign.platform,
            simulated=campaign.simulated,
        )
        session, _ = ExternalSession.objects.get_or_create(
            campaign=campaign,
            session_id=event.session_id,
            worker=worker,
            defaults={"status": event.status},
        )
        # Two collections at once take turns here.
        session = ExternalSession.objects.select_for_update(of=("self",)).get(
            pk=session.pk
        )
        if session.collected_at is None and event.status in SENT_IN:
            _take(session, event, hit_pk, pages)
            new = True
        reconcile.follow(session, event.status)
    return new


def _take(
    session: ExternalSession, event: SessionEvent, hit_pk: int, pages: Pages
) -> None:
    """Store the answers of a session once; callers lock its row."""
    # Before any of its HITs, as in `review.reject`; `work.store` explains why.
    campaign = (
        Campaign.objects.select_for_update(of=("self",), no_key=True)
        .select_related("hit_type")
        .get(pk=session.campaign_id)
    )
    hit = HIT.objects.get(pk=hit_pk)
    session.accepted_at = event.accepted_at
    session.submitted_at = event.submitted_at
    session.auto_approval_at = event.auto_approval_at
    # PostgreSQL text cannot hold a NUL, and a browser may send one.
    session.raw = event.raw.replace("\0", "")
    session.collected_at = timezone.now()
    session.status = "submitted"
    if Assignment.objects.filter(hit=hit, worker=session.worker_id).exists():
        session.problem = TWICE
        session.save()
        terms = terms_of(hit, campaign)
        reconcile.owe(session, terms.reward_cents, terms.fee_cents, TWICE)
        return
    ratings, session.problem = _ratings(campaign, hit, event, pages)
    session.save()
    assignment = _assignment(session, hit, event)
    record_work(session, assignment)
    if not take_slot(hit.pk):
        # More answers came than were asked for; they are paid like the rest.
        HIT.objects.filter(pk=hit.pk).update(max_assignments=F("max_assignments") + 1)
    work.store(assignment, ratings, campaign)
    if session.problem:
        _ask_again(campaign, assignment)


def _ratings(
    campaign: Campaign, hit: HIT, event: SessionEvent, pages: Pages
) -> tuple[list[CheckedRating], str]:
    try:
        if event.message:
            raise GenieError(event.message)
        answers = pages.answers(campaign.hit_type, hit, event.answers)
        return [
            rating
            for item in hit.items.all()
            for rating in ratings_of(campaign.hit_type, item, answers.get(item.key, {}))
        ], ""
    except GenieError as error:
        return [], f"{UNREADABLE}{error.message}"[:300]


def _assignment(session: ExternalSession, hit: HIT, event: SessionEvent) -> Assignment:
    submitted = event.submitted_at or timezone.now()
    # Not every platform reports when work was accepted, and no time is better than a
    # negative one.
    accepted = min(event.accepted_at or submitted, submitted)
    campaign = Campaign.objects.select_related("hit_type").get(pk=hit.campaign_id)
    return Assignment.objects.create(
        hit=hit,
        worker_id=session.worker_id,
        state=State.SUBMITTED,
        reward_cents=terms_of(hit, campaign).reward_cents,
        accepted_at=accepted,
        deadline_at=submitted,
        submitted_at=submitted,
        remark=clean_remark(event.answers.get("remark", "")),
        language=language_for(campaign.hit_type, event.answers.get("language")),
        active_seconds=plausible_seconds(
            _number(event.answers.get("active_seconds", "")),
            (submitted - accepted).total_seconds(),
        ),
    )


def _ask_again(campaign: Campaign, assignment: Assignment) -> None:
    if campaign.state not in {Campaign.State.RUNNING, Campaign.State.PAUSED}:
        return
    affordable = room(campaign).n_assignments
    if affordable is None or affordable > 0:
        Assignment.objects.filter(pk=assignment.pk).update(replaced_at=timezone.now())
        add_slot(assignment.hit_id)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
