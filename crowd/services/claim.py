"""Give a worker the next HIT: one open assignment each, nothing seen twice."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from crowd.models import HIT, Assignment, Campaign, Worker
from crowd.selectors.eligible import campaigns_for, unseen_hits
from crowd.services import reserve, slots

State = Assignment.State
# An answer that was under way when time ran out still counts.
GRACE = timedelta(minutes=2)


def next_assignment(
    worker: Worker, pool: str | None = None, *, only: Campaign | None = None
) -> Assignment | None:
    """Give the open assignment, or claim a HIT; None when there is no work.

    With a pool, new work comes from there only; and only from one campaign for who came
    by a link of that.
    """
    now = timezone.now()
    current = open_assignment(worker, now)
    if current is not None:
        return current
    with transaction.atomic():
        # Two tabs of one worker come here one after the other.
        locked = Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
        current = open_assignment(locked, now)
        if current is not None:
            return current
        _expire_open(locked)
        for campaign in campaigns_for(locked):
            if pool is not None and campaign.pool != pool:
                continue
            if only is not None and campaign.pk != only.pk:
                continue
            claimed = _claim(locked, campaign, now)
            if claimed is not None:
                return claimed
    return None


def open_assignment(worker: Worker, now: datetime) -> Assignment | None:
    """Give what the worker has open and can still send in."""
    return (
        Assignment.objects.filter(
            worker=worker, state=State.ACCEPTED, deadline_at__gt=now - GRACE
        )
        .select_related("hit__campaign__hit_type")
        .first()
    )


def _expire_open(worker: Worker) -> None:
    for pk, hit_pk in Assignment.objects.filter(
        worker=worker, state=State.ACCEPTED
    ).values_list("pk", "hit_id"):
        slots.take_back(pk, hit_pk, State.EXPIRED)


def _claim(worker: Worker, campaign: Campaign, now: datetime) -> Assignment | None:
    for pk in unseen_hits(worker, campaign):
        if not slots.take(pk):
            continue  # another worker was faster
        if not reserve.may_take(campaign, worker):
            slots.free(pk)
            return None
        return Assignment.objects.create(
            hit=HIT(pk=pk, campaign=campaign),
            worker=worker,
            reward_cents=campaign.hit_type.reward_cents,
            accepted_at=now,
            deadline_at=now + timedelta(seconds=campaign.hit_type.assignment_seconds),
        )
    return None
