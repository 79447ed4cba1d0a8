"""A HIT's status: computed from its assignments and the time, and never stored."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Q

from crowd.requester.models.account import Requester, RequesterAssignment, RequesterHIT

if TYPE_CHECKING:
    from django.db.models import QuerySet

State = RequesterAssignment.State
# After so long without use, it counts as deleted.
FORGOTTEN = timedelta(days=120)


def hits_of(requester: Requester, now: datetime) -> QuerySet[RequesterHIT, Any]:
    return counted(kept_hits(requester, now), now)


def kept_hits(requester: Requester, now: datetime) -> QuerySet[RequesterHIT]:
    forgotten = Q(expires_at__lte=now - FORGOTTEN, touched_at__lte=now - FORGOTTEN)
    rows = RequesterHIT.objects.filter(requester=requester, disposed_at=None)
    return rows.exclude(forgotten)


def counted(hits: QuerySet[RequesterHIT], now: datetime) -> QuerySet[RequesterHIT, Any]:
    open_now = Q(assignments__state=State.ACCEPTED, assignments__deadline_at__gt=now)
    decided = Q(assignments__state__in=[State.APPROVED, State.REJECTED])
    return hits.select_related("hit_type", "layout").annotate(
        n_open=Count("assignments", filter=open_now),
        n_submitted=Count("assignments", filter=Q(assignments__state=State.SUBMITTED)),
        n_decided=Count("assignments", filter=decided),
    )


def n_free(hit: Any) -> int:
    taken: int = hit.n_open + hit.n_submitted + hit.n_decided
    return max(int(hit.max_assignments) - taken, 0)


def status_of(hit: Any, now: datetime) -> str:
    if hit.disposed_at is not None:
        return "Disposed"
    takes_more = hit.expires_at > now and n_free(hit) > 0
    if takes_more:
        return "Assignable"
    if hit.n_open:
        return "Unassignable"
    return "Reviewing" if hit.reviewing else "Reviewable"
