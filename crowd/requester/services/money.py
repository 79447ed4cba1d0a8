"""A requester's account: what was paid in, what is held for posted work, what is left.

No row says what is on hold: it follows from the HITs and assignments that are
there. Callers hold the requester's row, so that the sum stays true until they have
acted on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db.models import F, Sum

from crowd.pricing import fee_per_assignment
from crowd.requester.models.account import (
    Requester,
    RequesterAssignment,
    RequesterBonus,
    RequesterEntry,
    RequesterHIT,
)
from crowd.requester.protocol.errors import TurkError

if TYPE_CHECKING:
    from django.db.models import QuerySet

Kind = RequesterEntry.Kind
State = RequesterAssignment.State
MAX_CENTS = 2**31 - 1
MASTERS = frozenset(
    {"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"}
)


@dataclass(frozen=True)
class Account:
    """What can be spent, and what posted work will cost at most; in cents."""

    available: int
    on_hold: int


def cents(amount: str) -> int:
    """Read an amount as requests write it.

    Examples
    --------
    >>> cents("0.4"), cents("3"), cents("1.05")
    (40, 300, 105)
    """
    value = int(Decimal(amount) * 100)
    if value > MAX_CENTS:
        raise TurkError(f"The amount {amount[:40]} is too large.")
    return value


def amount(value: int) -> str:
    """Write cents as answers do.

    Examples
    --------
    >>> amount(40), amount(12345)
    ('0.40', '123.45')
    """
    return f"{value // 100}.{value % 100:02d}"


def fee(reward_cents: int, max_assignments: int, requirements: list[Any]) -> int:
    """Compute the fee of one assignment at Mechanical Turk's published rates."""
    masters = any(
        requirement["QualificationTypeId"] in MASTERS for requirement in requirements
    )
    return fee_per_assignment(
        "mturk", reward_cents, max_assignments=max_assignments, masters=masters
    )


def account(requester: Requester, now: datetime) -> Account:
    """Add up the account from its entries and the work that is still out."""
    paid = requester.entries.aggregate(n=Sum("amount_cents"))["n"] or 0
    held = _held(requester, now)
    return Account(paid - held, held)


def _held(requester: Requester, now: datetime) -> int:
    live = RequesterHIT.objects.filter(requester=requester, disposed_at=None)
    work = RequesterAssignment.objects.filter(
        hit__requester=requester, hit__disposed_at=None
    )
    price = F("reward_cents") + F("fee_cents")
    posted = live.filter(expires_at__gt=now).aggregate(
        n=Sum(price * F("max_assignments"))
    )["n"]
    # A decision ends the hold on its place, whichever way it falls.
    decided = work.filter(
        hit__expires_at__gt=now, state__in=[State.APPROVED, State.REJECTED]
    )
    # After its end a HIT holds only what has come in, or still may.
    late = work.filter(hit__expires_at__lte=now)
    waiting = late.filter(state=State.SUBMITTED) | late.filter(
        state=State.ACCEPTED, deadline_at__gt=now
    )
    return (posted or 0) - _price_of(decided) + _price_of(waiting)


def _price_of(work: QuerySet[RequesterAssignment]) -> int:
    price = F("hit__reward_cents") + F("hit__fee_cents")
    return work.aggregate(n=Sum(price))["n"] or 0


def require(requester: Requester, needed: int, now: datetime) -> None:
    """Refuse what the account cannot pay for; callers hold the requester's row."""
    left = account(requester, now).available
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


def _charge(
    requester_pk: int, kind: RequesterEntry.Kind, what: str, value: int, now: datetime
) -> None:
    if value:
        # The table refuses a key that it has, so nothing is charged twice.
        RequesterEntry.objects.create(
            requester_id=requester_pk,
            key=f"{kind}:{what}",
            kind=kind,
            amount_cents=-value,
            created_at=now,
        )
