"""A requester's account: deposits, holds for posted work, and the rest.

The holds follow from the HITs and assignments, and the balance from the entries. Both
sums are stored in the requester's row and updated with their parts, so that no call
sums the whole account. Callers lock that row, so that the sums stay valid until they
act.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q

from crowd.pricing import fee_per_assignment
from crowd.requester.models import (
    Requester,
    RequesterAssignment,
    RequesterBonus,
    RequesterEntry,
    RequesterHIT,
)
from crowd.requester.protocol.errors import TurkError

Kind = RequesterEntry.Kind
State = RequesterAssignment.State
MAX_CENTS = 2**31 - 1
MASTERS = frozenset(
    {"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"}
)


@dataclass(frozen=True)
class Account:
    """Available money and the maximal cost of posted work, in cents."""

    available: int
    on_hold: int


def cents(amount: str) -> int:
    value = int(Decimal(amount) * 100)
    if value > MAX_CENTS:
        raise TurkError(f"The amount {amount[:40]} is too large.")
    return value


def amount(value: int) -> str:
    """Format cents for answers.

    Examples
    --------
    >>> amount(40), amount(12345)
    ('0.40', '123.45')
    """
    return f"{value // 100}.{value % 100:02d}"


def fee(reward_cents: int, max_assignments: int, requirements: list[Any]) -> int:
    """Compute the fee of one assignment in cents, at Mechanical Turk's published rates."""
    masters = any(
        requirement["QualificationTypeId"] in MASTERS for requirement in requirements
    )
    return fee_per_assignment(
        "mturk", reward_cents, max_assignments=max_assignments, masters=masters
    )


def account(requester: Requester) -> Account:
    balance, held = Requester.objects.values_list("balance_cents", "held_cents").get(
        pk=requester.pk
    )
    return Account(balance - held, held)


def hold(hit_pk: int, now: datetime) -> None:
    """Update the amount held for a HIT to its remaining cost.

    Called whenever that changes: when it is posted, changed, decided, expired or
    deleted. Callers lock the requester's row.
    """
    work = Q(assignments__state=State.SUBMITTED) | Q(
        assignments__state=State.ACCEPTED, assignments__deadline_at__gt=now
    )
    # Any decision ends the hold on its place.
    decided = Q(assignments__state__in=[State.APPROVED, State.REJECTED])
    hit = (
        RequesterHIT.objects.select_related("requester")
        .annotate(
            n_waiting=Count("assignments", filter=work),
            n_decided=Count("assignments", filter=decided),
        )
        .get(pk=hit_pk)
    )
    is_open = hit.disposed_at is None and hit.expires_at > now
    n = hit.max_assignments - hit.n_decided
    if not is_open:
        # After its end a HIT holds only submissions that have come in, or still may.
        n = hit.n_waiting if hit.disposed_at is None else 0
    cents = n * (hit.reward_cents + hit.fee_cents)
    if (cents, is_open) == (hit.held_cents, hit.held_as_open):
        return
    RequesterHIT.objects.filter(pk=hit_pk).update(
        held_cents=cents, held_as_open=is_open
    )
    hold_more(hit.requester_id, cents - hit.held_cents)


def hold_more(requester_pk: int, value: int) -> None:
    Requester.objects.filter(pk=requester_pk).update(held_cents=F("held_cents") + value)


def require(requester: Requester, needed: int) -> None:
    """Refuse an amount the account does not cover; callers lock the requester's row."""
    left = account(requester).available
    if needed > left:
        raise TurkError(
            "This Requester has insufficient funds in their account to complete this "
            f"transaction. It needs ${amount(needed)}; ${amount(max(left, 0))} is left.",
            "InsufficientFunds",
        )


def charge_work(assignment: RequesterAssignment, now: datetime) -> None:
    """Charge an approved assignment: the reward and the fee, once."""
    hit = assignment.hit
    _charge(hit.requester_id, Kind.REWARD, assignment.entity_id, hit.reward_cents, now)
    _charge(hit.requester_id, Kind.FEE, assignment.entity_id, hit.fee_cents, now)


def charge_bonus(bonus: RequesterBonus, requester: Requester, now: datetime) -> None:
    """Charge a bonus and its fee, once."""
    name = str(bonus.pk)
    _charge(requester.pk, Kind.BONUS, name, bonus.amount_cents, now)
    _charge(requester.pk, Kind.BONUS_FEE, name, bonus_fee(bonus.amount_cents), now)


def bonus_fee(bonus_cents: int) -> int:
    return fee_per_assignment("mturk", bonus_cents)


def book(requester_pk: int, value: int) -> None:
    Requester.objects.filter(pk=requester_pk).update(
        balance_cents=F("balance_cents") + value
    )


def _charge(
    requester_pk: int, kind: RequesterEntry.Kind, what: str, value: int, now: datetime
) -> None:
    if value:
        # The table refuses duplicate keys, so each is charged once.
        RequesterEntry.objects.create(
            requester_id=requester_pk,
            key=f"{kind}:{what}",
            kind=kind,
            amount_cents=-value,
            created_at=now,
        )
        book(requester_pk, -value)
