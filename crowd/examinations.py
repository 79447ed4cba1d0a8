from datetime import timedelta
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowd.hits.models import Assignment
from crowd.money.models import Commitment, LedgerEntry, Payout
from crowd.money.selectors.payouts import NOT_PAID, sums
from crowd.requester.models import AccessKey, Requester, RequesterEntry, RequesterHIT
from genie.lib import keys
from genie.lib.unguessable import fingerprint
from genie.upkeep.doctor import Finding, register, worst

_State = LedgerEntry.State
_STUCK = timedelta(hours=1)


def register_all() -> None:
    register("money", money, slow=True)
    register("payments", payments, slow=True)
    register("requesters' keys", requesters_keys)


def money() -> Finding:
    planned = LedgerEntry.objects.order_by().values_list("state")
    cents = dict(planned.annotate(n=Sum("amount_cents")))
    unplanned = Assignment.objects.filter(
        state__in=[Assignment.State.SUBMITTED, Assignment.State.APPROVED],
        reward_cents__gt=0,
        ledger=None,
    ).count()
    undated = LedgerEntry.objects.filter(state=_State.DONE, done_at=None).count()
    below = (
        RequesterEntry.objects.order_by()
        .values("requester")
        .annotate(cents=Sum("amount_cents"))
        .filter(cents__lt=0)
        .count()
    )
    wrong, payouts = _accounts_gone_wrong(), _payouts_gone_wrong()
    aside = Commitment.objects.aggregate(cents=Sum("amount_cents"))["cents"] or 0
    parts = [
        f"${cents.get(_State.DONE, 0) / 100:,.2f} paid, "
        f"${cents.get(_State.PLANNED, 0) / 100:,.2f} planned, "
        f"${aside / 100:,.2f} set aside or spent"
    ]
    parts += [f"assignments without a reward: {unplanned:,}"] if unplanned else []
    parts += [f"payments without a date: {undated:,}"] if undated else []
    parts += [f"requesters' accounts below zero: {below:,}"] if below else []
    parts += [f"requesters' accounts that do not add up: {wrong:,}"] if wrong else []
    parts += [f"payouts that do not add up: {payouts:,}"] if payouts else []
    problems = unplanned + undated + below + wrong + payouts
    return Finding(worst(problems), "; ".join(parts))


def _payouts_gone_wrong() -> int:
    rows = Payout.objects.exclude(state__in=NOT_PAID)
    paid = sums(rows.order_by().values("pk"))
    said = rows.order_by().values_list("pk", "amount_cents")
    return sum(cents != paid.get(pk, 0) for pk, cents in said)


def _accounts_gone_wrong() -> int:
    """Count requesters whose stored sums are not the sums of their rows.

    In one query, so that concurrent changes are in both sums or in neither.
    """

    def sum_of(rows: QuerySet[Any], column: str) -> Coalesce:
        own = rows.filter(requester=OuterRef("pk")).order_by().values("requester")
        return Coalesce(Subquery(own.annotate(n=Sum(column)).values("n")), 0)

    right = Requester.objects.filter(
        balance_cents=sum_of(RequesterEntry.objects.all(), "amount_cents"),
        held_cents=sum_of(RequesterHIT.objects.all(), "held_cents"),
    )
    return Requester.objects.exclude(pk__in=right).count()


def payments() -> Finding:
    rows = LedgerEntry.objects.aggregate(
        failed=Count("pk", filter=Q(state=_State.FAILED)),
        stuck=Count(
            "pk",
            filter=Q(
                state=_State.SENDING,
                payout=None,
                created_at__lt=timezone.now() - _STUCK,
            ),
        ),
    )
    failed, stuck = rows["failed"], rows["stuck"]
    return Finding(
        worst(0, failed + stuck),
        f"failed: {failed:,}, being sent for more than an hour: {stuck:,}",
    )


def requesters_keys() -> Finding:
    """Look for access keys made with a secret that the site no longer has."""
    made_with = (
        AccessKey.objects.filter(revoked_at=None)
        .order_by()
        .values_list("made_with")
        .annotate(n=Count("pk"))
    )
    known = {*map(fingerprint, keys.values(keys.REQUESTER))}
    valid = sum(n for name, n in made_with if name in known)
    lost = {name: n for name, n in made_with if name not in known}
    sentence = f"valid: {valid:,}"
    if lost:
        sentence += (
            "; encrypted with a secret key that the site does not have: "
            f"{sum(lost.values()):,} (fingerprint {', '.join(sorted(lost))})"
        )
    return Finding(worst(len(lost)), sentence)
