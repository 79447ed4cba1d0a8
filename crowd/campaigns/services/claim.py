"""Give a worker the next HIT: one open page each, nothing seen twice.

To look for a HIT takes long and happens without a lock; to take it is short, in a
transaction that checks again what was found. Three things make that safe: a worker
can have one open page and one assignment of a HIT (constraints of the table),
and a place is taken by an UPDATE that fails where none is left (`slots`).
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from crowd.campaigns.selectors.turns import Turn, turns
from crowd.campaigns.services import documents, preference, reservations
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HIT, Campaign
from crowd.hits.selectors.questions import form_of
from crowd.hits.selectors.wording import language_now
from crowd.hits.services import slots
from crowd.platforms.selfhosted import SelfHosted
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import (
    CANDIDATES,
    campaigns_for,
    candidates,
    is_open,
    unseen_hits,
)
from crowd.workers.selectors.shares import used_up

State = Assignment.State
# An answer that was under way when time ran out still counts.
GRACE = timedelta(minutes=2)
# How often a worker for whom others were faster looks again.
ROUNDS = 20


def next_assignment(
    worker: Worker, pool: str | None = None, *, only: Campaign | None = None
) -> Assignment | None:
    """Give the open assignment, or claim a HIT; None when there is no work.

    With a pool, new work comes from there only; and only from one campaign for who came
    by a link of that. HITs are looked for outside a transaction; what is found is taken
    in a short one, which begins by checking that nothing has changed.
    """
    now = timezone.now()
    for _ in range(ROUNDS):
        # What was shown last when the search began; `_claim` looks whether it still is.
        # Who has a HIT open was given no other since.
        latest = _newest(worker)
        current = first_of(latest) if latest else None
        current = current if current and current.state == State.ACCEPTED else None
        if current is not None and current.deadline_at > now - GRACE:
            return current
        if current is not None:
            with transaction.atomic():
                slots.take_back(current.pk, current.hit_id, State.EXPIRED)
        order = turns(worker, campaigns_for(worker, pool, only))
        candidate = candidates(worker, [turn.campaign for turn in order])
        if candidate is None:
            return None
        campaign, hits = candidate
        turn = next(turn for turn in order if turn.campaign == campaign)
        unseen = unseen_hits(worker, campaign)
        hits = documents.preferred(worker, campaign, unseen, hits)
        hits = preference.preferred(worker, campaign, unseen, hits)
        claimed = _claim(worker, turn, hits, latest.pk if latest else 0, now)
        if claimed is not None:
            found = [turn.campaign for turn in order]
            claimed.in_turns = [c for c in found if c.pool == campaign.pool]
            return claimed
    return None


@transaction.atomic
def fill(
    worker: Worker, first: Assignment, n: int, among: Collection[int] | None = None
) -> None:
    """Put HITs onto a page that was just handed out, up to `n`; fewer where there are fewer.

    Each comes in its turn as it would as the next page, while it looks alike; `among`
    says of which HITs of the page's campaign all must be. Test questions come as they
    would. One short search a HIT within one transaction: nobody is asked twice who it is.
    """
    locked = Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    rows = Assignment.objects.filter(pk=first.pk, state=State.ACCEPTED)
    # Who sends the page in, or takes it back, waits here or has been.
    if not rows.select_for_update(of=("self",)).exists():
        return
    campaigns = first.in_turns if among is None else None
    open_ones = {first.hit.campaign_id}  # it was, a moment ago
    for _ in range(n - 1):
        turn, hits = _next_on_page(
            locked, first, campaigns or [first.hit.campaign], among
        )
        if turn is None:
            return
        campaign = turn.campaign
        if campaign.pk not in open_ones:
            if not is_open(locked, campaign):
                return
            if not reservations.may_take(campaign, locked):
                return
            open_ones.add(campaign.pk)
        if not any(_taken(locked, turn, pk, first) for pk in hits):
            return


def _next_on_page(
    worker: Worker,
    first: Assignment,
    campaigns: Sequence[Campaign],
    among: Collection[int] | None,
) -> tuple[Turn | None, Sequence[int]]:
    """Find the turn whose HIT comes next onto a page, and the HITs to try."""
    done = used_up(worker, campaigns)
    order = turns(worker, [one for one in campaigns if one.pk not in done])
    candidate = candidates(worker, [turn.campaign for turn in order])
    if candidate is None:
        return None, []
    campaign, hits = candidate
    unseen = unseen_hits(worker, campaign)
    if among is not None:
        unseen = unseen.filter(pk__in=among)
        hits = list(unseen.values_list("pk", flat=True)[:CANDIDATES])
    if not hits or campaign.hit_type_id != first.hit.campaign.hit_type_id:
        return None, []
    turn = next(turn for turn in order if turn.campaign == campaign)
    return turn, preference.preferred(worker, campaign, unseen, hits)


def _taken(worker: Worker, turn: Turn, pk: int, first: Assignment) -> bool:
    """Put a HIT onto a page if it is still free, and in the page's language."""
    kind = turn.campaign.hit_type
    if language_now(kind, pk) != first.language or not slots.take(pk):
        return False
    turn.keep()
    Assignment.objects.create(
        hit=HIT(pk=pk, campaign=turn.campaign),
        worker=worker,
        reward_cents=kind.reward_cents,
        accepted_at=first.accepted_at,
        deadline_at=first.deadline_at,
        language=first.language,
        page=first,
    )
    return True


def first_of(assignment: Assignment) -> Assignment:
    """Give the first assignment of the page on which one stands."""
    return assignment.page or assignment


def open_assignment(worker: Worker, now: datetime) -> Assignment | None:
    """Give what the worker has open and can still send in: the first of the page."""
    current = _of(worker).filter(state=State.ACCEPTED, page=None).first()
    return current if current and current.deadline_at > now - GRACE else None


def _newest(worker: Worker) -> Assignment | None:
    return _of(worker).order_by("-pk").first()


def _of(worker: Worker) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(worker=worker)
    return rows.select_related(
        "hit__campaign__hit_type", "page__hit__campaign__hit_type"
    )


@transaction.atomic
def _claim(
    worker: Worker, turn: Turn, hits: list[int], newest: int, now: datetime
) -> Assignment | None:
    """Take the first of the HITs that is still free; None where things have changed.

    What was found without a lock is checked again here: whether the campaign is still
    open to the worker, who has been shown nothing since (`newest` was the last).
    """
    campaign = turn.campaign
    # Two tabs of one worker come here one after the other; the second looks again.
    locked = Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    if not is_open(locked, campaign, newest=newest):
        return None
    for pk in hits:
        if not slots.take(pk):
            continue  # another worker was faster
        # Only with a HIT in hand: to ask this makes the campaign the worker's own.
        if not reservations.may_take(campaign, locked):
            slots.free(pk)
            return None
        turn.keep()
        return Assignment.objects.create(
            hit=HIT(pk=pk, campaign=campaign),
            worker=locked,
            reward_cents=campaign.hit_type.reward_cents,
            accepted_at=now,
            deadline_at=now + time_for(campaign),
            language=language_now(campaign.hit_type, pk),
        )
    return None


def per_page(campaign: Campaign) -> int:
    """Say how many HITs of a campaign stand on one page; on other platforms one."""
    if campaign.platform != SelfHosted.slug:
        return 1
    return form_of(campaign.hit_type).items_per_page


def time_for(campaign: Campaign) -> timedelta:
    """Give the time in which a page is to be sent in: that of each HIT on it."""
    seconds = campaign.hit_type.assignment_seconds
    return timedelta(seconds=seconds * per_page(campaign))
