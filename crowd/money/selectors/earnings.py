from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from django.db.models import Q, Sum, Value

from crowd.hits.models import Assignment
from crowd.money.models import LedgerEntry
from crowd.requester.models import RequesterAssignment, RequesterBonus
from crowd.workers.models.worker import Worker
from genie.lib.database import prepare

PLANNED = Q(state__in=[LedgerEntry.State.PLANNED, LedgerEntry.State.SENDING])
SUBMITTED = Q(assignment__state=Assignment.State.SUBMITTED)
OF_REQUESTERS = RequesterAssignment.State
APPROVED, PAID = Q(state=OF_REQUESTERS.APPROVED), Q(paid_at__isnull=False)
# Each reads the worker and the cents that are pending, approved and paid.
_TABLES = [
    prepare(
        lambda *workers: (
            LedgerEntry.objects.filter(assignment__worker__pk__in=workers)
            .exclude(kind=LedgerEntry.Kind.FEE)
            .order_by()
            .values_list("assignment__worker")
            .annotate(
                pending=Sum("amount_cents", filter=PLANNED & SUBMITTED),
                approved=Sum("amount_cents", filter=PLANNED & ~SUBMITTED),
                paid=Sum("amount_cents", filter=Q(state=LedgerEntry.State.DONE)),
            )
        )
    ),
    prepare(
        lambda *workers: (
            RequesterAssignment.objects.filter(worker__worker__pk__in=workers)
            .order_by()
            .values_list("worker__worker")
            .annotate(
                pending=Sum(
                    "hit__reward_cents", filter=Q(state=OF_REQUESTERS.SUBMITTED)
                ),
                approved=Sum("hit__reward_cents", filter=APPROVED & ~PAID),
                paid=Sum("hit__reward_cents", filter=APPROVED & PAID),
            )
        )
    ),
    prepare(
        lambda *workers: (
            RequesterBonus.objects.filter(assignment__worker__worker__pk__in=workers)
            .order_by()
            .values_list("assignment__worker__worker")
            .annotate(
                pending=Value(0),
                approved=Sum("amount_cents", filter=~PAID),
                paid=Sum("amount_cents", filter=PAID),
            )
        )
    ),
]


@dataclass(frozen=True)
class Earnings:
    """A worker's earnings, in cents: awaiting approval, approved, paid."""

    pending: int = 0
    approved: int = 0
    paid: int = 0

    @property
    def total(self) -> int:
        return self.pending + self.approved + self.paid

    def __add__(self, more: Self) -> Self:
        return type(self)(
            self.pending + more.pending,
            self.approved + more.approved,
            self.paid + more.paid,
        )


def earnings(worker: Worker) -> Earnings:
    return earnings_of([worker])[worker.pk]


def earnings_of(workers: Iterable[Worker]) -> dict[int, Earnings]:
    earned = {worker.pk: Earnings() for worker in workers}
    for read in _TABLES if earned else ():
        for pk, *cents in read(*earned):
            earned[pk] += Earnings(*(n or 0 for n in cents))
    return earned
