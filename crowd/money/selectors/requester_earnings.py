from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch, Q, Sum

from crowd.requester.models import RequesterAssignment, RequesterBonus
from crowd.workers.models.worker import Worker

if TYPE_CHECKING:
    from django.db.models import QuerySet


State = RequesterAssignment.State


def of_requesters(pks: list[int]) -> dict[int, Earnings]:
    paid = Q(paid_at__isnull=False)
    approved = Q(state=State.APPROVED)
    rewards: Any = (
        RequesterAssignment.objects.filter(worker__worker__in=pks)
        .order_by()
        .values("worker__worker")
        .annotate(
            pending=Sum("hit__reward_cents", filter=Q(state=State.SUBMITTED)),
            approved=Sum("hit__reward_cents", filter=approved & ~paid),
            paid=Sum("hit__reward_cents", filter=approved & paid),
        )
    )
    bonuses: Any = (
        RequesterBonus.objects.filter(assignment__worker__worker__in=pks)
        .order_by()
        .values("assignment__worker__worker")
        .annotate(
            approved=Sum("amount_cents", filter=~paid),
            paid=Sum("amount_cents", filter=paid),
        )
    )
    earnings_by_worker: dict[int, Earnings] = {}
    for row in rewards:
        earnings_by_worker[row["worker__worker"]] = _earned(row)
    for row in bonuses:
        pk = row["assignment__worker__worker"]
        earnings_by_worker[pk] = earnings_by_worker.get(pk, Earnings()) + _earned(row)
    return earnings_by_worker


def done_for_requesters(worker: Worker) -> QuerySet[RequesterAssignment, Any]:
    bonuses = RequesterBonus.objects.order_by("pk")
    return (
        RequesterAssignment.objects.filter(
            worker__worker=worker, submitted_at__isnull=False
        )
        .select_related("hit__hit_type__requester")
        .prefetch_related(Prefetch("bonuses", queryset=bonuses))
        .order_by("-submitted_at", "-pk")
    )


def _earned(row: dict[str, Any]) -> Earnings:
    return Earnings(row.get("pending") or 0, row["approved"] or 0, row["paid"] or 0)


@dataclass(frozen=True)
class Earnings:
    """A worker's earnings, in cents: awaiting approval, approved, paid."""

    pending: int = 0
    approved: int = 0
    paid: int = 0

    @property
    def total(self) -> int:
        return self.pending + self.approved + self.paid

    def __add__(self, more: Earnings) -> Earnings:
        return Earnings(
            self.pending + more.pending,
            self.approved + more.approved,
            self.paid + more.paid,
        )
