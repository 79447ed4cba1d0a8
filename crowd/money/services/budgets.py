"""Set money aside before it is spent, so that no budget is exceeded.

Two budgets limit spending: the site's and the pool's. A commitment counts against both
from the approval of its price. Once the work is over it shrinks to what was spent, and
later changes (a rejection, its reversal, a bonus) correct it. The rows of the budgets
are the locks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, Sum
from django.db.models.functions import Greatest
from django.utils import timezone

from crowd.hits.models import ELSEWHERE, Campaign
from crowd.money.models import Budget, Commitment
from genie.history import log
from genie.lib.admin import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser
    from django.db.models import QuerySet


def budget_left(pool: str | None) -> int:
    """Return what may still be set aside for the pool, in cents: the tighter budget."""
    return min(left for _, _, left in _accounts(pool, _budgets(pool)))


def refuse_beyond(pool: str, cents: int) -> None:
    _refuse_beyond(pool, cents, _budgets(pool))


@transaction.atomic
def set_limit(pool: str, cents: int, *, by: AbstractBaseUser, why: str = "") -> None:
    budget, made = Budget.objects.select_for_update().get_or_create(
        pool_id=pool, defaults={"limit_cents": cents}
    )
    if not made and budget.limit_cents == cents:
        return
    Budget.objects.filter(pk=budget.pk).update(limit_cents=cents)
    note(by, budget, f"The limit is ${cents / 100:,.2f}.", why)
    _log_change("limit", cents, task=pool, by=by.pk, why=why)


@transaction.atomic
def commit(
    *, key: str, pool: str, amount_cents: int, by: AbstractBaseUser
) -> Commitment:
    """Set money aside, once per key; refused if a budget would be exceeded."""
    # The rows are the lock, so concurrent approvals wait here.
    locked = _lock(pool)
    existing = Commitment.objects.filter(key=key).first()
    # A released commitment may be set aside again under its key; any other commitment
    # of that key is this one.
    released = (
        existing is not None
        and existing.settled_at is not None
        and existing.amount_cents == 0
    )
    if existing is not None and not released:
        return existing
    _refuse_beyond(pool, amount_cents, locked)
    commitment, _ = Commitment.objects.update_or_create(
        key=key,
        defaults={
            "pool_id": pool,
            "amount_cents": amount_cents,
            "approved_by_id": by.pk,
            "settled_at": None,
        },
    )
    said = {"key": key, "task": pool, "by": by.pk}
    _log_change("committed", amount_cents, about=commitment.pk, **said)
    return commitment


@transaction.atomic
def set_aside_again(*, key: str, pool: str, cents: int, at_most: int) -> None:
    locked = _lock(pool)
    commitment = Commitment.objects.select_for_update().get(key=key)
    # A person approved `at_most`; anything more needs another decision.
    extra = max(0, min(cents, at_most - commitment.amount_cents))
    _refuse_beyond(pool, extra, locked)
    Commitment.objects.filter(key=key).update(
        amount_cents=F("amount_cents") + extra, settled_at=None
    )
    if extra:
        _log_change("added", extra, about=commitment.pk, key=key, task=pool)


def add(campaign: Campaign, cents: int, by: AbstractBaseUser) -> bool:
    """Add money to a campaign's account; return whether that was closed before.

    Raises
    ------
    GenieError
        ``elsewhere`` for imported work, and ``over-budget``.
    """
    if campaign.platform == ELSEWHERE:
        raise GenieError(
            "This work was imported, so it cannot be paid here.",
            code="elsewhere",
        )
    # An amount of 0 only creates the account if there is none yet.
    commit(key=campaign.key, pool=campaign.pool_id, amount_cents=0, by=by)
    account = Commitment.objects.get(key=campaign.key)
    set_aside_again(
        key=campaign.key,
        pool=campaign.pool_id,
        cents=cents,
        at_most=account.amount_cents + cents,
    )
    Campaign.objects.filter(pk=campaign.pk).update(
        budget_cents=F("budget_cents") + cents
    )
    return account.settled_at is not None


def settle(key: str, spent_cents: int) -> bool:
    """Shrink a commitment to what was spent, once; the rest is available again."""
    with transaction.atomic():
        settled = Commitment.objects.filter(key=key, settled_at=None).update(
            amount_cents=spent_cents, settled_at=timezone.now()
        )
        if settled:
            pk = Commitment.objects.values_list("pk", flat=True).get(key=key)
            # If it was opened again without new work, the line is not logged again.
            _log_change("settled", spent_cents, about=pk, repeat=False, key=key)
    return bool(settled)


def release(key: str) -> bool:
    """Release a commitment and its parts, once."""
    with transaction.atomic():
        released = (
            _parts_of(key)
            .filter(settled_at=None)
            .update(amount_cents=0, settled_at=timezone.now())
        )
        if released:
            _log_change("released", 0, key=key)
    return bool(released)


@transaction.atomic
def divide(key: str, parts: Sequence[str]) -> None:
    """Divide the money set aside under a key and its parts evenly among these parts.

    If it is divided so already, nothing changes.
    """
    rows = list(
        _parts_of(key).select_for_update().filter(settled_at=None).order_by("key")
    )
    if not rows or {row.key for row in rows} == set(parts):
        return
    # The remainder goes to the first part, so that no cent is lost.
    each, over = divmod(sum(row.amount_cents for row in rows), len(parts))
    release(key)
    for place, name in enumerate(parts):
        Commitment.objects.update_or_create(
            key=name,
            defaults={
                "pool_id": rows[0].pool_id,
                "amount_cents": each + (over if place == 0 else 0),
                "approved_by_id": rows[0].approved_by_id,
                "settled_at": None,
            },
        )


def _parts_of(key: str) -> QuerySet[Commitment]:
    return Commitment.objects.filter(Q(key=key) | Q(key__startswith=f"{key}:"))


def correct(key: str, cents: int) -> None:
    """Add later spending, or subtract savings, after a commitment was settled."""
    # An open commitment holds at least what is spent, so it needs no correction.
    if cents:
        Commitment.objects.filter(key=key, settled_at__isnull=False).update(
            amount_cents=Greatest(F("amount_cents") + cents, 0)
        )


def committed_by_pool() -> dict[str | None, int]:
    """Return what is set aside or spent for each pool, and under None for all."""
    cents_by_pool: dict[str | None, int] = dict(
        Commitment.objects.order_by()
        .values_list("pool")
        .annotate(cents=Sum("amount_cents"))
    )
    cents_by_pool[None] = sum(cents_by_pool.values())
    return cents_by_pool


def _log_change(
    what: str, cents: int, *, about: int | None = None, repeat: bool = True, **said: Any
) -> None:
    data = {"is": what, "cents": cents, **said}
    log.append(log.Kind.BUDGET, data, about=about, repeat=repeat)


def _lock(pool: str) -> dict[str | None, Budget]:
    # Created if missing, because only a row that exists can be locked.
    Budget.objects.get_or_create(
        pool=None, defaults={"limit_cents": settings.GENIE["SITE_BUDGET_CENTS"]}
    )
    return _budgets(pool, lock=True)


def _budgets(pool: str | None, *, lock: bool = False) -> dict[str | None, Budget]:
    rows = Budget.objects.filter(Q(pool=None) | Q(pool=pool)).order_by("pk")
    return {row.pool_id: row for row in (rows.select_for_update() if lock else rows)}


def _accounts(
    pool: str | None, budgets: dict[str | None, Budget]
) -> list[tuple[str, int, int]]:
    site = budgets.get(None)
    limit = site.limit_cents if site else int(settings.GENIE["SITE_BUDGET_CENTS"])
    accounts = [("the whole site", limit, limit - _committed_sum())]
    if pool is not None and pool in budgets:
        limit = budgets[pool].limit_cents
        accounts.append((pool, limit, limit - _committed_sum(pool=pool)))
    return accounts


def _refuse_beyond(pool: str, cents: int, budgets: dict[str | None, Budget]) -> None:
    for name, limit, left in _accounts(pool, budgets):
        if cents > left:
            raise _over(name, limit, left, cents)


def _committed_sum(**of: str) -> int:
    total = Commitment.objects.filter(**of).aggregate(total=Sum("amount_cents"))
    return total["total"] or 0


def _over(name: str, limit: int, left: int, amount: int) -> GenieError:
    return GenieError(
        f"This costs ${amount / 100:,.2f}, but only ${max(0, left) / 100:,.2f} is "
        f"left of the budget of {name}, ${limit / 100:,.2f}.",
        code="over-budget",
        details={
            "budget": name,
            "limit_cents": limit,
            "left_cents": left,
            "amount_cents": amount,
        },
    )
