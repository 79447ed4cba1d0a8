from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, Sum

from crowd.requester.models.account import (
    Requester,
    RequesterAssignment,
    RequesterEntry,
    RequesterHIT,
)
from crowd.requester.models.records import RequesterBatch
from genie.lib.serving.caches import computed

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account

Kind = RequesterEntry.Kind
State = RequesterAssignment.State
AT_ONCE = 25


@dataclass(frozen=True)
class Spent:
    deposited: int
    rewards: int
    bonuses: int
    fees: int


def open_to(user: Account) -> QuerySet[Requester]:
    return Requester.objects.filter(people=user.pk)


def spent(requester: Requester) -> Spent:
    """Sum an account's entries by their reason.

    Entries are only ever added, in order, so only new ones are read. A cached sum of a
    different database does not match the balance and is not used.
    """
    key = f"requester-spent-{requester.pk}"
    kept: tuple[int, dict[str, int]] = computed.get(key) or (0, {})
    last, sums = _added(requester, *kept)
    if sum(sums.values()) != requester.balance_cents:
        last, sums = _added(requester, 0, {})
    computed.set(key, (last, sums))
    return Spent(
        deposited=sums.get(Kind.DEPOSIT, 0),
        rewards=-sums.get(Kind.REWARD, 0),
        bonuses=-sums.get(Kind.BONUS, 0),
        fees=-sums.get(Kind.FEE, 0) - sums.get(Kind.BONUS_FEE, 0),
    )


def _added(
    requester: Requester, last: int, sums: dict[str, int]
) -> tuple[int, dict[str, int]]:
    rows = RequesterEntry.objects.filter(requester=requester, pk__gt=last).order_by()
    new = list(rows.values_list("kind").annotate(Sum("amount_cents"), Max("pk")))
    sums = {**sums}
    for kind, cents, _ in new:
        sums[kind] = sums.get(kind, 0) + cents
    return max([last, *(pk for _, _, pk in new)]), sums


def work_of(requester: Requester, now: datetime) -> dict[str, int]:
    """Count open HITs, and answers in work or awaiting a decision.

    Decided ones are left out, because counting them would read the work of years.
    """
    open_hits = RequesterHIT.objects.filter(
        requester=requester, disposed_at=None, announced=False, expires_at__gt=now
    )
    work = RequesterAssignment.objects.filter(
        hit__requester=requester, state__in=[State.ACCEPTED, State.SUBMITTED]
    ).order_by()
    states = dict(work.values_list("state").annotate(Count("pk")))
    return {
        "open": open_hits.count(),
        "working": states.get(State.ACCEPTED, 0),
        "waiting": states.get(State.SUBMITTED, 0),
    }


def newest_batches(requester: Requester, number: str | None) -> Page[RequesterBatch]:
    rows = RequesterBatch.objects.filter(requester=requester).order_by("-pk")
    page = Paginator(rows, AT_ONCE).get_page(number)
    page.object_list = list(
        batches_of(requester).filter(pk__in=[one.pk for one in page])
    )
    return page


def batches_of(requester: Requester) -> QuerySet[RequesterBatch, Any]:
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
