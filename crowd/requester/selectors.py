from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Model, Q, QuerySet, Sum

from crowd.requester.models import (
    QualificationRequest,
    QualificationType,
    Requester,
    RequesterAssignment,
    RequesterBatch,
    RequesterEntry,
    RequesterHIT,
    RequesterHITType,
    WorkerAlias,
)
from crowd.requester.protocol.call import Call
from crowd.requester.protocol.errors import TurkError, bad_value
from genie.lib.serving.caches import computed

if TYPE_CHECKING:
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


M = TypeVar("M", bound=Model)


def open_to(user: Account) -> QuerySet[Requester]:
    """Return the requesters whose pages a person opens; staff open all of them."""
    if user.has_perm("crowd.change_requester"):
        return Requester.objects.all()
    return Requester.objects.filter(people=user.pk)


def spent(requester: Requester) -> Spent:
    """Sum an account's entries by their reason.

    Entries are only ever added, in order, so only new ones are read. A cached sum of a
    different database does not match the balance and is not used.
    """
    key = f"requester-spent-{requester.pk}"
    kept: tuple[int, dict[str, int]] = computed.get(key) or (0, {})
    last, sums = _add_counts(requester, *kept)
    if sum(sums.values()) != requester.balance_cents:
        last, sums = _add_counts(requester, 0, {})
    computed.set(key, (last, sums))
    return Spent(
        deposited=sums.get(Kind.DEPOSIT, 0),
        rewards=-sums.get(Kind.REWARD, 0),
        bonuses=-sums.get(Kind.BONUS, 0),
        fees=-sums.get(Kind.FEE, 0) - sums.get(Kind.BONUS_FEE, 0),
    )


def _add_counts(
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


# A HIT's status: computed from its assignments and the time, and never stored.

# After so long without use, it counts as deleted.
FORGOTTEN = timedelta(days=120)


def hits_of(requester: Requester, now: datetime) -> QuerySet[RequesterHIT, Any]:
    return with_counts(kept_hits(requester, now), now)


def kept_hits(requester: Requester, now: datetime) -> QuerySet[RequesterHIT]:
    forgotten = Q(expires_at__lte=now - FORGOTTEN, touched_at__lte=now - FORGOTTEN)
    rows = RequesterHIT.objects.filter(requester=requester, disposed_at=None)
    return rows.exclude(forgotten)


def with_counts(
    hits: QuerySet[RequesterHIT], now: datetime
) -> QuerySet[RequesterHIT, Any]:
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


# A requester's own rows; rows of other requesters are not found.
def hit(call: Call, entity_id: str) -> Any:
    return _first(
        hits_of(call.requester, call.now).filter(entity_id=entity_id), "Hit", entity_id
    )


def hit_or_disposed(call: Call, entity_id: str) -> Any:
    hits = with_counts(RequesterHIT.objects.filter(requester=call.requester), call.now)
    return _first(hits.filter(entity_id=entity_id), "Hit", entity_id)


def hit_type(call: Call, entity_id: str) -> RequesterHITType:
    row = RequesterHITType.objects.filter(
        requester=call.requester, entity_id=entity_id
    ).first()
    if row is None:
        raise bad_value("HITTypeId", entity_id)
    return row


def assignment(call: Call, entity_id: str) -> RequesterAssignment:
    assignments = RequesterAssignment.objects.filter(hit__requester=call.requester)
    rows = assignments.select_related("hit__hit_type", "worker")
    return _first(rows.filter(entity_id=entity_id), "Assignment", entity_id)


def worker(call: Call, customer_id: str) -> WorkerAlias:
    alias = WorkerAlias.objects.filter(
        requester=call.requester, customer_id=customer_id
    ).first()
    if alias is None:
        raise bad_value("WorkerId", customer_id)
    return alias


def qualification_type(call: Call, entity_id: str) -> QualificationType:
    types = QualificationType.objects.filter(requester=call.requester, disposed_at=None)
    return _first(types.filter(entity_id=entity_id), "QualificationType", entity_id)


def qualification_request(call: Call, entity_id: str) -> QualificationRequest:
    requests = QualificationRequest.objects.filter(
        qualification_type__requester=call.requester
    ).select_related("qualification_type", "worker")
    return _first(
        requests.filter(entity_id=entity_id), "QualificationRequest", entity_id
    )


def _first(rows: QuerySet[M], what: str, entity_id: str) -> M:
    row = rows.first()
    if row is None:
        # Mechanical Turk writes Hit in the sentence and HIT in the code.
        code = "HIT" if what == "Hit" else what
        raise TurkError(f"{what} {entity_id} does not exist.", f"{code}DoesNotExist")
    return row
