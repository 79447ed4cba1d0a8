"""The rows of a payout change with it: claimed, paid, or free again.

Callers lock the row of the terms.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from crowd.messages import services as messages
from crowd.messages.models import Message
from crowd.money.models import LedgerEntry, PaymentDetails, Payout, PayoutRun
from crowd.money.selectors.payouts import UNDER_WAY, Payable, payables, sums
from crowd.requester.models import RequesterAssignment, RequesterBonus
from crowd.templatetags.crowd_money import dollars
from genie.lib.errors import GenieError

State = Payout.State
Entry = LedgerEntry.State
# A paid row: its table, key and cents.
Part = tuple[type[Any], int, int]
# Rows that refer to their payout.
_REQUESTERS: tuple[type[Any], ...] = (RequesterAssignment, RequesterBonus)
_TABLES: tuple[type[Any], ...] = (LedgerEntry, *_REQUESTERS)


def claim_all(run: PayoutRun, workers: Sequence[int]) -> None:
    mine: dict[int, list[Part]] = defaultdict(list)
    for table in payables():
        of_these = Q(**{f"{table.worker}__in": workers})
        for pk, worker, cents in list_rows(table, of_these):
            mine[worker].append((table.rows.model, pk, cents))
    claim(run, mine)


def list_rows(table: Payable, which: Q) -> Iterable[tuple[int, int, int]]:
    rows: Any = table.rows.filter(which).order_by("pk")
    return list(rows.values_list("pk", table.worker, table.cents))


def claim(run: PayoutRun, mine: dict[int, list[Part]]) -> list[Payout]:
    """Create a payout for each worker and assign the rows to it, all or nothing."""
    payouts = [
        Payout(run=run, worker_id=worker, amount_cents=sum(n for *_, n in parts))
        for worker, parts in sorted(mine.items())
    ]
    Payout.objects.bulk_create(payouts, batch_size=500)
    for payout in payouts:
        parts = mine[payout.worker_id]
        for model in _TABLES:
            keys = [pk for of, pk, _ in parts if of is model]
            # Only the row's own columns: a join would hide them when PostgreSQL checks
            # the conditions again after waiting for another change.
            free = model.objects.filter(
                Q(state=Entry.PLANNED) if model is LedgerEntry else Q(paid_at=None),
                pk__in=keys,
                payout=None,
            )
            if keys and free.update(payout=payout) != len(keys):
                raise GenieError(
                    "A payment has changed in the meantime. Try again.",
                    code="payment-changed",
                    permanent=False,
                )
    return payouts


def pay(payouts: Sequence[Payout], reference: str = "") -> None:
    name: Any = reference[:100] or Subquery(
        Payout.objects.filter(pk=OuterRef("payout")).values("reference")[:1]
    )
    now, keys = timezone.now(), pks(payouts)
    LedgerEntry.objects.filter(payout__in=keys).update(
        state=Entry.DONE, done_at=now, platform_id=name
    )
    for model in _REQUESTERS:
        rows = model.objects.filter(payout__in=keys)
        rows.update(paid_at=now, payment_reference=name)
    check(payouts)
    _end(payouts, State.PAID)


def fail(payout: Payout) -> None:
    release([payout], payout.reason, State.FAILED)
    # Details that the worker has corrected since did not fail.
    PaymentDetails.objects.filter(
        worker=payout.worker_id, saved_at__lte=payout.run.approved_at
    ).update(wrong=True)
    text = format_lazy(
        gettext_lazy(
            "A payment of {amount} did not reach you. The reason given is: {reason}. "
            "Please check your payment details; the money is in the next payout after "
            "you have saved them."
        ),
        amount=dollars(payout.amount_cents),
        reason=payout.reason.rstrip(".") or gettext_lazy("none"),
    )
    subject = gettext_lazy("A payment did not reach you")
    sent = messages.send(payout.worker, Message.Kind.PAYMENT, subject, text)
    messages.send_by_mail_too(sent)


def release(
    payouts: Sequence[Payout], reason: str, state: State = State.PUT_OFF
) -> None:
    keys = pks(payouts)
    LedgerEntry.objects.filter(payout__in=keys).update(
        state=Entry.PLANNED, done_at=None, platform_id="", payout=None
    )
    for model in _REQUESTERS:
        rows = model.objects.filter(payout__in=keys)
        rows.update(paid_at=None, payment_reference="", payout=None)
    for payout in payouts:
        payout.reason = reason[:300]
    _end(payouts, state)


def _end(payouts: Sequence[Payout], state: State) -> None:
    for payout in payouts:
        # The account is deleted once the money has arrived or failed.
        payout.state, payout.sealed, payout.ended_at = state, "", timezone.now()
    fields = ["state", "sealed", "reason", "ended_at"]
    Payout.objects.bulk_update(payouts, fields, batch_size=500)


def check(payouts: Sequence[Payout]) -> None:
    """Refuse payouts that are not the sum of their rows."""
    cents = sums(pks(payouts))
    wrong = [one for one in payouts if cents.get(one.pk, 0) != one.amount_cents]
    if wrong:
        names = ", ".join(map(str, wrong))
        raise GenieError(f"Payouts that do not add up: {names}.", code="payout-wrong")


def close(runs: Collection[int]) -> None:
    open_ = Payout.objects.filter(state__in=UNDER_WAY).values("run")
    PayoutRun.objects.filter(pk__in=runs).exclude(pk__in=open_).update(
        state=PayoutRun.State.CLOSED
    )


def pks(payouts: Sequence[Payout]) -> list[int]:
    return [payout.pk for payout in payouts]
