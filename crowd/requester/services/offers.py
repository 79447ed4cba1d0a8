"""What requesters' work there is for a worker."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import F, Max, Min

from crowd.requester.models.account import (
    RequesterAssignment,
    RequesterHIT,
    RequesterHITType,
    WorkerAlias,
)
from crowd.requester.selectors.hit_status import counted
from crowd.requester.services.needs import Need, needs_of
from crowd.requester.services.requirements import guards
from crowd.workers.models.worker import Worker
from genie.lib.seeds import generator, seed_from

if TYPE_CHECKING:
    from django.db.models import QuerySet

State = RequesterAssignment.State


@dataclass(frozen=True)
class Group:
    """HITs of one type: how many are left for the worker, and what they ask for."""

    hit_type: RequesterHITType
    n_left: int
    needs: list[Need]

    @property
    def may_accept(self) -> bool:
        return all(need.met for need in self.needs)

    @property
    def may_preview(self) -> bool:
        return self._may("Preview")

    @property
    def is_shown(self) -> bool:
        return self._may("Discover")

    def _may(self, action: str) -> bool:
        return all(need.met or not guards(need.rule, action) for need in self.needs)


def groups(worker: Worker, now: datetime) -> list[Group]:
    """List the groups that a worker may know of, those that they can do first."""
    n_left = Counter(left_for(worker, now).values_list("hit_type", flat=True))
    types = RequesterHITType.objects.filter(pk__in=n_left).select_related("requester")
    all_groups = [
        Group(hit_type, n_left[hit_type.pk], needs_of(hit_type, worker))
        for hit_type in types
    ]
    shown = [group for group in all_groups if group.is_shown]
    return sorted(shown, key=lambda group: (not group.may_accept, -group.hit_type.pk))


def group(worker: Worker, group_id: str, now: datetime) -> Group | None:
    """Give one group that a worker may know of; None when there is nothing left in it."""
    hit_type = (
        RequesterHITType.objects.filter(group_id=group_id)
        .select_related("requester")
        .first()
    )
    if hit_type is None:
        return None
    n = left_for(worker, now).filter(hit_type=hit_type).count()
    offered = Group(hit_type, n, needs_of(hit_type, worker))
    return offered if n and offered.is_shown else None


def left_for(worker: Worker, now: datetime) -> QuerySet[RequesterHIT, Any]:
    """Give the HITs with a free place that a worker has not taken, oldest first."""
    if worker.excluded:
        return counted(RequesterHIT.objects.none(), now)
    taken = RequesterAssignment.objects.filter(worker__worker=worker).exclude(
        state=State.RETURNED
    )
    live = RequesterHIT.objects.filter(disposed_at=None, expires_at__gt=now)
    closed = WorkerAlias.objects.filter(worker=worker, block_reason__isnull=False)
    welcome = live.exclude(requester__in=closed.values("requester")).exclude(
        pk__in=taken.values("hit")
    )
    return (
        counted(welcome, now)
        .filter(max_assignments__gt=F("n_open") + F("n_submitted") + F("n_decided"))
        .order_by("pk")
    )


def next_few(
    worker: Worker, hit_type: RequesterHITType, now: datetime, n: int
) -> list[RequesterHIT]:
    """Give a few HITs of a group, from a random place on.

    A requester's table is often sorted by system. In its order, all workers would be given
    one system on one day and the next on another. The place is drawn for the worker and
    how many of the group they have had: to look again shows the same.
    """
    left = left_for(worker, now).filter(hit_type=hit_type)
    ends = left.aggregate(first=Min("pk"), last=Max("pk"))
    if ends["first"] is None:
        return []
    had = RequesterAssignment.objects.filter(
        worker__worker=worker, hit__hit_type=hit_type
    ).count()
    seed = seed_from("place in a group", worker.pk, hit_type.pk, had)
    place = int(generator(seed).integers(ends["first"], ends["last"] + 1))
    found = list(left.filter(pk__gte=place)[:n])
    return found + list(left.filter(pk__lt=place)[: n - len(found)])


def open_work(worker: Worker, now: datetime) -> QuerySet[RequesterAssignment, Any]:
    """Give what a worker has accepted and can still send in, most urgent first."""
    return (
        RequesterAssignment.objects.filter(
            worker__worker=worker, state=State.ACCEPTED, deadline_at__gt=now
        )
        .select_related("hit__hit_type__requester")
        .order_by("deadline_at", "pk")
    )
