"""Payouts: what is due to workers is planned, put into a file, and paid or failed.

Each step holds the row of the terms, so one happens after another, and moves ledger
entries and requesters' work along in the transaction of the payout. What failed is due
again. No money moves here: a file is made when a person agrees to its total.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from crowd.messages import services as messages
from crowd.messages.models import Message
from crowd.money.models import (
    LedgerEntry,
    PaymentDetails,
    Payout,
    PayoutRun,
    PayoutTerms,
)
from crowd.money.selectors.payouts import (
    NOT_PAID,
    TERMS,
    UNDER_WAY,
    due,
    last_date,
    payables,
)
from crowd.money.services import moves
from crowd.money.services.last_payments import of_the_gone
from crowd.money.services.payment_details import recipient_of
from crowd.templatetags.crowd_money import dollars
from crowd.workers.models.worker import Worker
from genie.history import log
from genie.lib.admin.log import note
from genie.lib.errors import GenieError
from genie.lib.serving.languages import in_every_language

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

Method = PaymentDetails.Method
RunState = PayoutRun.State
State = Payout.State
Entry = LedgerEntry.State
# What one file may hold: Wise takes 1,000 lines, PayPal 5,000.
MOST = {Method.BANK: 5_000, Method.PAYPAL: 5_000, Method.WISE: 1_000}
PAID, RETURNED = "paid", "returned"


@dataclass(frozen=True)
class Prospect:
    """What a run planned now would hold, by method, and who would not be in it."""

    by_method: dict[str, dict[int, int]]
    lacking: dict[int, int]
    n_carried: int


@dataclass(frozen=True)
class Outcome:
    """What became of a payout: paid, or failed or returned, and why."""

    pk: int
    word: str
    reason: str = ""


def lock() -> PayoutTerms:
    """Hold the terms' row until the transaction ends; callers open it."""
    # A site that begins waits for the first day of payouts.
    yesterday = timezone.localdate() - timedelta(days=1)
    PayoutTerms.objects.get_or_create(pk=TERMS, defaults={"planned_on": yesterday})
    return PayoutTerms.objects.select_for_update().get(pk=TERMS)


def prospect(minimum_cents: int) -> Prospect:
    """Say what is due by method; who has entered nothing usable cannot be paid."""
    cents = due()
    small = {pk for pk, n in cents.items() if n < minimum_cents}
    carried = small - of_the_gone(small)
    enough = {pk: n for pk, n in cents.items() if pk not in carried}
    details = PaymentDetails.objects.filter(wrong=False)
    usable = {
        worker: method
        for worker, method, sealed in details.values_list("worker", "method", "sealed")
        # a site that has lost its key knows them no more
        if recipient_of(sealed)
    }
    by_method: dict[str, dict[int, int]] = defaultdict(dict)
    for pk, n in sorted(enough.items()):
        if pk in usable:
            by_method[usable[pk]][pk] = n
    lacking = {pk: n for pk, n in enough.items() if pk not in usable}
    return Prospect(dict(by_method), lacking, len(cents) - len(enough))


@transaction.atomic
def plan(on: date, by: AbstractBaseUser | None = None) -> list[PayoutRun]:
    """Plan payouts of everything due, one run for each file; tell who cannot be paid."""
    terms = lock()
    found = prospect(terms.minimum_cents)
    runs = []
    for method, cents in sorted(found.by_method.items()):
        workers = list(cents)
        size = MOST[Method(method)]
        for first in range(0, len(workers), size):
            run = PayoutRun.objects.create(due_on=on, method=method)
            moves.claim_all(run, workers[first : first + size])
            note(by, run, "Planned.")
            runs.append(run)
    _ask_for_details(found.lacking)
    PayoutTerms.objects.filter(pk=TERMS).update(planned_on=on)
    return runs


@transaction.atomic
def plan_due() -> list[PayoutRun]:
    """Plan the payouts of the newest day that has come, once."""
    today = timezone.localdate()
    terms = lock()
    day = last_date(terms, today)
    if day is None or (terms.planned_on is not None and terms.planned_on >= day):
        return []
    return plan(today)


@transaction.atomic
def file(
    run: PayoutRun, by: AbstractBaseUser, layout: str, agreed_cents: int
) -> PayoutRun:
    """Put a planned run into a file; the total must be what the person agreed to.

    Raises
    ------
    GenieError
        ``not-planned`` where somebody was faster, ``total-changed``, ``nothing-to-pay``.
    """
    lock()
    # Details that are saved from here on are not those of the file.
    now = timezone.now()
    ready, rest = in_file(run)
    total = sum(payout.amount_cents for payout in ready)
    rows = PayoutRun.objects.filter(pk=run.pk, state=RunState.PLANNED)
    changes = {"layout": layout, "approved_by": by, "approved_at": now}
    if not rows.update(state=RunState.IN_FILE, **changes):
        raise GenieError("This run is in a file already.", code="not-planned")
    if not ready:
        raise GenieError(
            "Nobody in this run can be paid: take it back.", code="nothing-to-pay"
        )
    if total != agreed_cents:
        raise GenieError(
            f"The total is {dollars(total)} now; look at it again.",
            code="total-changed",
        )
    moves.release(rest, gettext("The payment details had changed."))
    for payout in ready:
        payout.state = State.IN_FILE
    Payout.objects.bulk_update(ready, ["state", "sealed"], batch_size=500)
    entries = LedgerEntry.objects.filter(payout__in=moves.pks(ready))
    entries.filter(state=Entry.PLANNED).update(state=Entry.SENDING)
    moves.check(ready)
    note(by, run, f"Approved a file of {dollars(total)} for {len(ready)}.")
    return PayoutRun.objects.get(pk=run.pk)


def in_file(run: PayoutRun) -> tuple[list[Payout], list[Payout]]:
    """Give the payouts that the file would hold, and those that cannot be in it now."""
    details = PaymentDetails.objects.filter(
        worker__payouts__run=run, method=run.method, wrong=False
    )
    sealed = dict(details.values_list("worker", "sealed"))
    ready: list[Payout] = []
    rest: list[Payout] = []
    for payout in run.payouts.filter(state=State.PLANNED).select_related("worker"):
        payout.sealed = sealed.get(payout.worker_id, "")
        (ready if recipient_of(payout.sealed) else rest).append(payout)
    return ready, rest


@transaction.atomic
def settle(outcomes: Iterable[Outcome], by: AbstractBaseUser) -> int:
    """Note what became of payouts in files; return how many changed.

    The same again changes nothing.

    Raises
    ------
    GenieError
        ``payout-over`` for what cannot be; then nothing has changed.
    """
    lock()
    said = {outcome.pk: outcome for outcome in outcomes}
    payouts = Payout.objects.select_related("run", "worker").in_bulk(said)
    paid: list[Payout] = []
    failed: list[Payout] = []
    for pk, payout in payouts.items():
        if problem := _contradiction(payout, said[pk].word):
            raise GenieError(f"{payout}: {problem}.", code="payout-over")
        if said[pk].word == PAID and payout.state != State.PAID:
            paid.append(payout)
        elif said[pk].word != PAID and payout.state not in NOT_PAID:
            failed.append(payout)
        payout.reason = said[pk].reason[:300]
    cents = sum(one.amount_cents for one in paid)
    cents -= sum(one.amount_cents for one in failed if one.state == State.PAID)
    moves.pay(paid)
    for payout in failed:
        moves.fail(payout)
    moves.close({payout.run_id for payout in (*paid, *failed)})
    _logged(cents)
    for run in {payout.run for payout in (*paid, *failed)}:
        n_paid = sum(one.run_id == run.pk for one in paid)
        n_failed = sum(one.run_id == run.pk for one in failed)
        note(by, run, f"Paid: {n_paid}, failed: {n_failed}.")
    return len(paid) + len(failed)


def _contradiction(payout: Payout, word: str) -> str:
    """Say why a payout cannot have this outcome; empty where it can."""
    if payout.state == State.PLANNED:
        return "it is in no file yet"
    if payout.state in NOT_PAID and word == PAID:
        return f"it is {payout.get_state_display()}, and its money is due again"
    return ""


@transaction.atomic
def take_back(run: PayoutRun, by: AbstractBaseUser, reason: str) -> int:
    """Give up what of a run is not paid; the money is due again. Returns how many."""
    lock()
    payouts = list(run.payouts.filter(state__in=UNDER_WAY))
    moves.release(payouts, reason)
    moves.close([run.pk])
    if payouts:
        note(by, run, "Taken back.", reason)
    return len(payouts)


@transaction.atomic
def by_hand(rows: Sequence[Any], by: AbstractBaseUser, reference: str) -> int:
    """Note that approved work was paid outside of any file, under the payer's reference.

    Rows are ledger entries, or requesters' assignments and bonuses. Returns how many
    changed: what is unapproved, in a payout, or paid by a platform does not.
    """
    reference = reference.strip()
    if not reference:
        raise GenieError(
            "Give the payment's reference, so that it can be found again.",
            code="reference-missing",
        )
    lock()
    mine: dict[int, list[tuple[type[Any], int, int]]] = defaultdict(list)
    taken = {}
    for table in payables(on_this_site=False):
        wanted = {row.pk: row for row in rows if isinstance(row, table.rows.model)}
        for pk, worker, cents in moves.listed(table, Q(pk__in=list(wanted))):
            mine[worker].append((table.rows.model, pk, cents))
            taken[table.rows.model, pk] = wanted[pk]
    if not mine:
        return 0
    today = timezone.localdate()
    run = PayoutRun.objects.create(
        due_on=today,
        method=PayoutRun.BY_HAND,
        approved_by_id=by.pk,
        approved_at=timezone.now(),
    )
    payouts = moves.claim(run, mine)
    for payout in payouts:
        payout.reason = reference[:300]
    moves.pay(payouts, reference)
    moves.close([run.pk])
    _logged(sum(payout.amount_cents for payout in payouts))
    for row in taken.values():
        note(by, row, f"Marked paid: {reference}.")
    return len(taken)


def _ask_for_details(lacking: dict[int, int]) -> None:
    """Tell who cannot be paid, unless they have not read the last time."""
    kind = Message.Kind.PAYMENT
    subject = gettext_lazy("We do not know where to send your money")
    unread = Message.objects.filter(
        kind=kind, subject__in=in_every_language(subject), read_at=None
    )
    told = set(unread.values_list("worker", flat=True))
    text = gettext_lazy(
        "{amount} is approved and waits for you. Enter your payment details under "
        "“Earnings”, “Payment”; the money is in the next payout after that."
    )
    for worker in Worker.objects.filter(pk__in=lacking.keys() - told):
        amount = dollars(lacking[worker.pk])
        messages.send(worker, kind, subject, format_lazy(text, amount=amount))


def _logged(cents: int) -> None:
    if cents:
        log.append(log.Kind.BUDGET, {"is": "paid out", "cents": cents})
