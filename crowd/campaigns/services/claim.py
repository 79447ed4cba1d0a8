"""Give a worker the next HIT: one open assignment each, nothing seen twice.

To look for a HIT takes long and happens without a lock; to take it is short, in a
transaction that checks again what was found. Three things make that safe: a worker
can have one open assignment and one assignment of a HIT (constraints of the table),
and a place is taken by an UPDATE that fails where none is left (`slots`).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from crowd.campaigns.selectors.turns import Turn, turns
from crowd.campaigns.services import preference, reservations
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HIT, Campaign
from crowd.hits.selectors.wording import language_now
from crowd.hits.services import slots
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import (
    campaigns_for,
    candidates,
    is_open,
    unseen_hits,
)

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
        current = latest if latest and latest.state == State.ACCEPTED else None
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
        hits = preference.preferred(worker, campaign, unseen, hits)
        claimed = _claim(worker, turn, hits, latest.pk if latest else 0, now)
        if claimed is not None:
            found = [turn.campaign for turn in order]
            claimed.in_turns = [c for c in found if c.pool == campaign.pool]
            return claimed
    return None


def open_assignment(worker: Worker, now: datetime) -> Assignment | None:
    """Give what the worker has open and can still send in."""
    current = _of(worker).filter(state=State.ACCEPTED).first()
    return current if current and current.deadline_at > now - GRACE else None


def _newest(worker: Worker) -> Assignment | None:
    return _of(worker).order_by("-pk").first()


def _of(worker: Worker) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(worker=worker)
    return rows.select_related("hit__campaign__hit_type")


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
            deadline_at=now + timedelta(seconds=campaign.hit_type.assignment_seconds),
            language=language_now(campaign.hit_type, pk),
        )
    return None
