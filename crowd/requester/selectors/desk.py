"""What a requester sees on their own page: money, work and batches in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Q, Sum

from crowd.requester.models.account import (
    Requester,
    RequesterAssignment,
    RequesterEntry,
    RequesterHIT,
)
from crowd.requester.models.records import RequesterBatch

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account

Kind = RequesterEntry.Kind
State = RequesterAssignment.State


@dataclass(frozen=True)
class Spent:
    """What was paid in and what was charged so far; in cents."""

    deposited: int
    rewards: int
    bonuses: int
    fees: int


def open_to(user: Account) -> QuerySet[Requester]:
    """Give the requesters whose page an account may open, sandboxes among them."""
    mine = Q(people=user.pk) | Q(sandbox_of__people=user.pk)
    return Requester.objects.filter(mine).select_related("sandbox_of").distinct()


def spent(requester: Requester) -> Spent:
    """Add up an account by what its entries are for."""
    rows = RequesterEntry.objects.filter(requester=requester).order_by()
    sums = dict(rows.values_list("kind").annotate(Sum("amount_cents")))
    return Spent(
        deposited=sums.get(Kind.DEPOSIT, 0),
        rewards=-sums.get(Kind.REWARD, 0),
        bonuses=-sums.get(Kind.BONUS, 0),
        fees=-sums.get(Kind.FEE, 0) - sums.get(Kind.BONUS_FEE, 0),
    )


def work_of(requester: Requester, now: datetime) -> dict[str, int]:
    """Count HITs that are open, and assignments by their state."""
    open_hits = RequesterHIT.objects.filter(
        requester=requester, disposed_at=None, announced=False, expires_at__gt=now
    )
    work = RequesterAssignment.objects.filter(hit__requester=requester).order_by()
    states = dict(work.values_list("state").annotate(Count("pk")))
    return {
        "open": open_hits.count(),
        "working": states.get(State.ACCEPTED, 0),
        "waiting": states.get(State.SUBMITTED, 0),
        "approved": states.get(State.APPROVED, 0),
        "rejected": states.get(State.REJECTED, 0),
    }


def batches_of(requester: Requester) -> QuerySet[RequesterBatch, Any]:
    """Give a requester's batches with their counts, newest first."""
    sent = Q(hits__assignments__submitted_at__isnull=False)
    waiting = Q(hits__assignments__state=State.SUBMITTED)
    return (
        RequesterBatch.objects.filter(requester=requester)
        .select_related("hit_type")
        .annotate(
            n_hits=Count("hits", distinct=True),
            n_answers=Count("hits__assignments", filter=sent, distinct=True),
            n_waiting=Count("hits__assignments", filter=waiting, distinct=True),
        )
        .order_by("-pk")
    )
