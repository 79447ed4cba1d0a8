from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from crowd.hits.models import Assignment
from crowd.hits.services.platforms import paying_slugs
from crowd.money.models import LedgerEntry, PaymentDetails, Payout, PayoutTerms
from crowd.requester.models import RequesterAssignment, RequesterBonus
from crowd.workers.models.worker import Worker
from genie.lib.unguessable import open_sealed

Every = PayoutTerms.Every
# the one row
TERMS = 1
OWN_SITE = "selfhosted"
GONE = (LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED)
NOT_PAID = (Payout.State.FAILED, Payout.State.PUT_OFF)
UNDER_WAY = (Payout.State.PLANNED, Payout.State.IN_FILE)


@dataclass(frozen=True)
class NextPayout:
    # None: staff plan payouts by hand
    date: date | None
    # approved, and not in any payout yet
    amount_cents: int
    # in a payout that is planned or on its way
    under_way_cents: int
    minimum_cents: int
    # "details" if none are entered, "correction" if a payment to them failed
    lacks: str = ""

    @property
    def is_carried_over(self) -> bool:
        return 0 < self.amount_cents < self.minimum_cents


@dataclass(frozen=True)
class Payable:
    rows: QuerySet[Any]
    worker: str
    cents: str


def payables(
    workers: Collection[int] | None = None, *, on_this_site: bool = True
) -> tuple[Payable, ...]:
    """Return what is approved and in no payout, of workers of this site.

    Without `on_this_site`, of all workers whom no platform pays; those are paid by
    hand.
    """
    tables = (
        Payable(_entries(), "assignment__worker", "amount_cents"),
        Payable(
            RequesterAssignment.objects.filter(
                state=RequesterAssignment.State.APPROVED, paid_at=None, payout=None
            ),
            "worker__worker",
            "hit__reward_cents",
        ),
        Payable(
            RequesterBonus.objects.filter(paid_at=None, payout=None),
            "assignment__worker__worker",
            "amount_cents",
        ),
    )
    if not on_this_site:
        return tables
    return tuple(
        Payable(_rows_of(table, workers), table.worker, table.cents) for table in tables
    )


def due(workers: Collection[int] | None = None) -> dict[int, int]:
    """Return the cents due to each worker, for all or some."""
    cents: dict[int, int] = {}
    for table in payables(workers):
        sums = table.rows.order_by().values(payee=F(table.worker))
        for row in sums.annotate(n=Sum(table.cents)):
            cents[row["payee"]] = cents.get(row["payee"], 0) + row["n"]
    return {pk: n for pk, n in cents.items() if n}


def sums(payouts: Collection[int] | QuerySet[Any, Any]) -> dict[int, int]:
    tables: tuple[tuple[QuerySet[Any], str], ...] = (
        (LedgerEntry.objects.exclude(state__in=GONE), "amount_cents"),
        (RequesterAssignment.objects.all(), "hit__reward_cents"),
        (RequesterBonus.objects.all(), "amount_cents"),
    )
    cents: dict[int, int] = {}
    for rows, column in tables:
        of_these = rows.filter(payout__in=payouts).order_by().values("payout")
        for row in of_these.annotate(n=Sum(column)):
            cents[row["payout"]] = cents.get(row["payout"], 0) + row["n"]
    return cents


def next_for(worker: Worker) -> NextPayout:
    terms = PayoutTerms.objects.filter(pk=TERMS).first() or PayoutTerms(pk=TERMS)
    details = PaymentDetails.objects.filter(worker=worker).first()
    lacks = "" if details and open_sealed(details.sealed) else "details"
    if details is not None and details.wrong:
        lacks = "correction"
    under_way = Payout.objects.filter(worker=worker, state__in=UNDER_WAY)
    return NextPayout(
        next_date(terms, timezone.localdate()),
        due([worker.pk]).get(worker.pk, 0),
        under_way.aggregate(n=Sum("amount_cents"))["n"] or 0,
        terms.minimum_cents,
        lacks,
    )


def next_date(terms: PayoutTerms, today: date) -> date | None:
    """Return the next payout day: today counts unless payouts were planned today."""
    first = today
    if terms.planned_on is not None and terms.planned_on >= today:
        first = terms.planned_on + timedelta(days=1)
    if terms.every == Every.WEEK:
        return first + timedelta(days=(terms.day - first.isoweekday()) % 7)
    if terms.every == Every.MONTH:
        # Every month has days 1 to 28.
        return next(
            day
            for n in range(31)
            if (day := first + timedelta(days=n)).day == terms.day
        )
    return None


def last_date(terms: PayoutTerms, today: date) -> date | None:
    days = (today - timedelta(days=n) for n in range(31))
    if terms.every == Every.WEEK:
        return next(day for day in days if day.isoweekday() == terms.day)
    if terms.every == Every.MONTH:
        return next(day for day in days if day.day == terms.day)
    return None


def _entries() -> QuerySet[LedgerEntry]:
    approved = Q(assignment__state=Assignment.State.APPROVED)
    # Some bonuses are for work whose rejection cannot be reversed.
    despite = Q(assignment__state=Assignment.State.REJECTED)
    bonus = Q(kind=LedgerEntry.Kind.BONUS)
    return LedgerEntry.objects.filter(
        approved | (despite & bonus),
        state=LedgerEntry.State.PLANNED,
        kind__in=[LedgerEntry.Kind.REWARD, LedgerEntry.Kind.BONUS],
        payout=None,
    ).exclude(campaign__platform__in=paying_slugs())


def _rows_of(table: Payable, workers: Collection[int] | None) -> QuerySet[Any]:
    mine: dict[str, Any] = {
        f"{table.worker}__platform": OWN_SITE,
        f"{table.worker}__simulated": False,
    }
    if workers is not None:
        mine[f"{table.worker}__in"] = workers
    return table.rows.filter(**mine)
