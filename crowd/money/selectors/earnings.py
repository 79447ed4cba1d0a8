from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Self

from django.db.models import (
    Case,
    Count,
    F,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from crowd.hits.models import Assignment, HITType
from crowd.hits.selectors import title_now
from crowd.money.models import LedgerEntry
from crowd.money.selectors import fair_pay
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


# The part that is shown beside paid work: of our campaigns and of requesters.
_read_pending = prepare(
    lambda worker: Worker.objects.filter(pk=worker).values_list(
        Coalesce(
            Subquery(
                LedgerEntry.objects.filter(
                    PLANNED & SUBMITTED, assignment__worker=OuterRef("pk")
                )
                .exclude(kind=LedgerEntry.Kind.FEE)
                .order_by()
                .values("assignment__worker")
                .annotate(cents=Sum("amount_cents"))
                .values("cents")
            ),
            0,
        )
        + Coalesce(
            Subquery(
                RequesterAssignment.objects.filter(
                    worker__worker=OuterRef("pk"), state=OF_REQUESTERS.SUBMITTED
                )
                .order_by()
                .values("worker__worker")
                .annotate(cents=Sum("hit__reward_cents"))
                .values("cents")
            ),
            0,
        ),
        flat=True,
    )
)


def pending_cents(worker: Worker) -> int:
    return next(iter(_read_pending(worker.pk)), 0)


def earnings(worker: Worker) -> Earnings:
    return earnings_of([worker])[worker.pk]


def earnings_of(workers: Iterable[Worker]) -> dict[int, Earnings]:
    earned = {worker.pk: Earnings() for worker in workers}
    for read in _TABLES if earned else ():
        for pk, *cents in read(*earned):
            earned[pk] += Earnings(*(n or 0 for n in cents))
    return earned


# what money is for
WORK, BONUS, TOP_UP = "work", "bonus", "top-up"
Kind = LedgerEntry.Kind
State = LedgerEntry.State


@dataclass(frozen=True)
class Line:
    what: str
    title: str
    # a requester; empty: this site
    by: str
    n: int
    cents: int
    # the part not approved yet
    pending_cents: int


@dataclass(frozen=True)
class Day:
    date: date
    lines: tuple[Line, ...]

    @property
    def cents(self) -> int:
        return sum(line.cents for line in self.lines)

    @property
    def pending_cents(self) -> int:
        return sum(line.pending_cents for line in self.lines)


def earned_by_day(worker: Worker) -> list[Day]:
    """Return a worker's days in the active time zone, newest first.

    Rejected work earns nothing. Work counts on the day it was submitted, a bonus on the
    day it was given. The sum over all days equals `earnings`.
    """
    lines_by_day: dict[date, list[Line]] = {}
    ours = list(_of_campaigns(worker))
    _translate(ours)
    for rows in (ours, *_of_requesters(worker)):
        for row in rows:
            day = row.pop("day")
            row["pending_cents"] = row["pending_cents"] or 0
            lines_by_day.setdefault(day, []).append(Line(**row))
    return [
        Day(day, tuple(sorted(lines, key=lambda line: -line.cents)))
        for day, lines in sorted(lines_by_day.items(), reverse=True)
    ]


def _translate(rows: list[dict[str, Any]]) -> None:
    stored = HITType.objects.filter(title__in={row["title"] for row in rows})
    titles = {one.title: title_now(one) for one in stored.order_by("pk")}
    for row in rows:
        row["title"] = titles[row["title"]]


def _of_campaigns(worker: Worker) -> Iterable[dict[str, Any]]:
    reward = Q(kind=Kind.REWARD)
    rows = (
        LedgerEntry.objects.filter(
            assignment__worker=worker,
            state__in=[State.PLANNED, State.SENDING, State.DONE],
        )
        .exclude(kind=Kind.FEE)
        .annotate(
            what=Case(
                When(reward, then=Value(WORK)),
                When(idempotency_key__startswith=fair_pay.KEY, then=Value(TOP_UP)),
                default=Value(BONUS),
            ),
            at=Case(
                When(reward, then=F("assignment__submitted_at")),
                default=F("created_at"),
            ),
            title=F("campaign__hit_type__title"),
            by=Value(""),
        )
    )
    pending = Q(assignment__state=Assignment.State.SUBMITTED) & ~Q(state=State.DONE)
    return _sum_cents(rows, "amount_cents", pending)


def _of_requesters(worker: Worker) -> Iterable[Iterable[dict[str, Any]]]:
    states = RequesterAssignment.State
    work = RequesterAssignment.objects.filter(
        worker__worker=worker, state__in=[states.SUBMITTED, states.APPROVED]
    ).annotate(
        what=Value(WORK),
        at=F("submitted_at"),
        title=F("hit__hit_type__title"),
        by=F("hit__requester__name"),
    )
    yield _sum_cents(work, "hit__reward_cents", Q(state=states.SUBMITTED))
    bonuses = RequesterBonus.objects.filter(assignment__worker__worker=worker).annotate(
        what=Value(BONUS),
        at=F("granted_at"),
        title=F("assignment__hit__hit_type__title"),
        by=F("assignment__hit__requester__name"),
    )
    yield _sum_cents(bonuses, "amount_cents", Q(pk=None))


def _sum_cents(rows: QuerySet[Any], cents: str, pending: Q) -> Iterable[dict[str, Any]]:
    zone = timezone.get_current_timezone()
    summed: Iterable[dict[str, Any]] = (
        rows.order_by()
        .annotate(day=TruncDate("at", tzinfo=zone))
        .values("day", "what", "title", "by")
        .annotate(
            n=Count("pk"), cents=Sum(cents), pending_cents=Sum(cents, filter=pending)
        )
    )
    return summed


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
