from collections.abc import Iterable

from django.db.models import Q, Sum

from crowd.hits.models import Assignment
from crowd.money.models import LedgerEntry
from crowd.money.selectors.requester_earnings import Earnings, of_requesters
from crowd.workers.models.worker import Worker

__all__ = ["Earnings", "earnings", "earnings_of"]
PLANNED = (LedgerEntry.State.PLANNED, LedgerEntry.State.SENDING)


def earnings(worker: Worker) -> Earnings:
    return earnings_of([worker])[worker.pk]


def earnings_of(workers: Iterable[Worker]) -> dict[int, Earnings]:
    pks = [worker.pk for worker in workers]
    of_campaigns, from_requesters = _of_campaigns(pks), of_requesters(pks)
    nothing = Earnings()
    return {
        pk: of_campaigns.get(pk, nothing) + from_requesters.get(pk, nothing)
        for pk in pks
    }


def _of_campaigns(pks: list[int]) -> dict[int, Earnings]:
    submitted = Q(assignment__state=Assignment.State.SUBMITTED)
    rows = (
        LedgerEntry.objects.filter(assignment__worker__in=pks)
        .exclude(kind=LedgerEntry.Kind.FEE)
        .order_by()
        .values("assignment__worker")
        .annotate(
            pending=Sum("amount_cents", filter=Q(state__in=PLANNED) & submitted),
            approved=Sum("amount_cents", filter=Q(state__in=PLANNED) & ~submitted),
            paid=Sum("amount_cents", filter=Q(state=LedgerEntry.State.DONE)),
        )
    )
    return {
        row["assignment__worker"]: Earnings(
            row["pending"] or 0, row["approved"] or 0, row["paid"] or 0
        )
        for row in rows
    }
