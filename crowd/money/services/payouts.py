"""Payouts: amounts due to workers are planned, put into a file, and paid or failed.

Each step locks the row of the terms, so steps run one after another, and changes ledger
entries and requesters' work in the transaction of the payout. Failed amounts are due
again. No money moves here: a file is created when a person agrees to its total.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _

from crowd.messages import services as messages
from crowd.messages.models import Message
from crowd.money.models import (
    LedgerEntry,
    PaymentDetails,
    Payout,
    PayoutRun,
    PayoutTerms,
)
from crowd.money.selectors.earnings import earnings_of
from crowd.money.selectors.payouts import (
    NOT_PAID,
    TERMS,
    UNDER_WAY,
    due,
    last_date,
    payables,
)
from crowd.money.services import moves
from crowd.templatetags.crowd_money import dollars
from crowd.workers.models.worker import Worker
from genie.history import log
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.formats import csv_text
from genie.lib.serving.languages import in_every_language
from genie.lib.unguessable import open_sealed, seal

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


# Workers' payment details: encrypted when entered, decrypted for files only.
Method = PaymentDetails.Method


@dataclass(frozen=True)
class Recipient:
    """A payee's name as entered, and the account: an IBAN or an address."""

    name: str
    account: str

    @property
    def hint(self) -> str:
        mailbox, at, host = self.account.rpartition("@")
        return f"{mailbox[:1]}…@{host}" if at else f"…{self.account[-4:]}"


@transaction.atomic
def save_details(worker: Worker, method: str, recipient: Recipient) -> None:
    sealed = seal(json.dumps(asdict(recipient)))
    PaymentDetails.objects.update_or_create(
        worker=worker, defaults={"method": method, "sealed": sealed, "wrong": False}
    )
    # A person who took over an account would begin here, so its owner gets a message.
    subject = _("Your payment details were changed")
    text = _(
        "If you did not do this, change your password and write to the people who "
        "invited you."
    )
    messages.send(worker, Message.Kind.PAYMENT, subject, text)


def forget_details(worker: Worker) -> None:
    """Delete a worker's payment details.

    A payout that is in a file keeps its copy until it is over: the file may have been
    sent, and one that is downloaded again must pay the same people.
    """
    PaymentDetails.objects.filter(worker=worker).delete()


def recipient_of(sealed: str) -> Recipient | None:
    """Decrypt the details; None if they were deleted or the key is gone."""
    text = open_sealed(sealed) if sealed else None
    return Recipient(**json.loads(text)) if text else None


def forget_the_gone() -> None:
    """Delete the payment details of closed accounts that are owed nothing.

    Details to which a payment failed are deleted, too, because their owner cannot
    correct them.
    """
    details = PaymentDetails.objects.filter(worker__user__is_active=False)
    gone = {row.worker_id: row for row in details.select_related("worker")}
    owed = earnings_of([row.worker for row in gone.values()])
    under_way = Payout.objects.filter(worker__in=list(gone), state__in=UNDER_WAY)
    waiting = set(under_way.values_list("worker", flat=True))
    over = [
        row.worker
        for pk, row in gone.items()
        if pk not in waiting
        and (row.wrong or not (owed[pk].pending or owed[pk].approved))
    ]
    for worker in over:
        forget_details(worker)


RunState = PayoutRun.State
State = Payout.State
Entry = LedgerEntry.State
# The maximal size of one file: Wise takes 1,000 lines, PayPal 5,000.
MOST = {Method.BANK: 5_000, Method.PAYPAL: 5_000, Method.WISE: 1_000}
PAID, RETURNED = "paid", "returned"


@dataclass(frozen=True)
class Prospect:
    by_method: dict[str, dict[int, int]]
    lacking: dict[int, int]
    n_carried: int


@dataclass(frozen=True)
class Outcome:
    pk: int
    word: str
    reason: str = ""


def lock() -> PayoutTerms:
    """Lock the terms' row until the transaction ends; callers open it."""
    # A new site waits for the first payout day.
    yesterday = timezone.localdate() - timedelta(days=1)
    PayoutTerms.objects.get_or_create(pk=TERMS, defaults={"planned_on": yesterday})
    return PayoutTerms.objects.select_for_update().get(pk=TERMS)


def prospect(minimum_cents: int) -> Prospect:
    cents = due()
    small = {pk for pk, n in cents.items() if n < minimum_cents}
    # Money of people who have left: it is paid, and then their details are deleted.
    gone = Worker.objects.filter(pk__in=small, user__is_active=False)
    carried = small - set(gone.values_list("pk", flat=True))
    enough = {pk: n for pk, n in cents.items() if pk not in carried}
    details = PaymentDetails.objects.filter(wrong=False)
    usable = {
        worker: method
        for worker, method, sealed in details.values_list("worker", "method", "sealed")
        # A site that has lost its key cannot decrypt them.
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
    """Plan payouts of everything due, one run per file; notify workers without details."""
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
def plan_due() -> None:
    today = timezone.localdate()
    terms = lock()
    day = last_date(terms, today)
    if day is not None and (terms.planned_on is None or terms.planned_on < day):
        plan(today)


@transaction.atomic
def file(
    run: PayoutRun, by: AbstractBaseUser, layout: str, agreed_cents: int
) -> PayoutRun:
    """Write a planned run to a file; the total must be the agreed one.

    Raises
    ------
    GenieError
        ``not-planned`` if it is already in a file, ``total-changed``,
        ``nothing-to-pay``.
    """
    lock()
    # Details saved from here on are not those of the file.
    now = timezone.now()
    ready, rest = in_file(run)
    total = sum(payout.amount_cents for payout in ready)
    rows = PayoutRun.objects.filter(pk=run.pk, state=RunState.PLANNED)
    changes = {"layout": layout, "approved_by": by, "approved_at": now}
    if not rows.update(state=RunState.IN_FILE, **changes):
        raise GenieError("This run is already in a file.", code="not-planned")
    if not ready:
        raise GenieError(
            "No worker in this run can be paid. Take the run back.",
            code="nothing-to-pay",
        )
    if total != agreed_cents:
        raise GenieError(
            f"The total is {dollars(total)} now. Check it again.",
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
    """Store the outcomes of payouts in files; return how many changed.

    The same outcome again changes nothing.

    Raises
    ------
    GenieError
        ``payout-over`` for an impossible outcome; then nothing has changed.
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
    _log_total(cents)
    for run in {payout.run for payout in (*paid, *failed)}:
        n_paid = sum(one.run_id == run.pk for one in paid)
        n_failed = sum(one.run_id == run.pk for one in failed)
        note(by, run, f"Paid: {n_paid}, failed: {n_failed}.")
    return len(paid) + len(failed)


def _contradiction(payout: Payout, word: str) -> str:
    if payout.state == State.PLANNED:
        return "it is in no file yet"
    if payout.state in NOT_PAID and word == PAID:
        return f"it is {payout.get_state_display()}, and its money is due again"
    return ""


@transaction.atomic
def take_back(run: PayoutRun, by: AbstractBaseUser, reason: str) -> int:
    """Cancel what of a run is not paid; the money is due again. Return how many."""
    lock()
    payouts = list(run.payouts.filter(state__in=UNDER_WAY))
    moves.release(payouts, reason)
    moves.close([run.pk])
    if payouts:
        note(by, run, "Taken back.", reason)
    return len(payouts)


@transaction.atomic
def by_hand(rows: Sequence[Any], by: AbstractBaseUser, reference: str) -> int:
    """Store that approved work was paid outside of files, with the payer's reference.

    Rows are ledger entries, or requesters' assignments and bonuses. Return how many
    changed: rows that are unapproved, in a payout, or paid by a platform do not.
    """
    reference = reference.strip()
    if not reference:
        raise GenieError(
            "Enter the payment's reference, so that it can be found again.",
            code="reference-missing",
        )
    lock()
    mine: dict[int, list[tuple[type[Any], int, int]]] = defaultdict(list)
    taken = {}
    for table in payables(on_this_site=False):
        wanted = {row.pk: row for row in rows if isinstance(row, table.rows.model)}
        for pk, worker, cents in moves.list_rows(table, Q(pk__in=list(wanted))):
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
    _log_total(sum(payout.amount_cents for payout in payouts))
    for row in taken.values():
        note(by, row, f"Marked paid: {reference}.")
    return len(taken)


def _ask_for_details(lacking: dict[int, int]) -> None:
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


def _log_total(cents: int) -> None:
    if cents:
        log.append(log.Kind.BUDGET, {"is": "paid out", "cents": cents})


CURRENCY = "USD"


@dataclass(frozen=True)
class Layout:
    title: str
    method: str
    columns: tuple[str, ...]
    cells: Callable[[Recipient, str, str], tuple[str, ...]]
    has_header: bool = True


# PayPal: developer.paypal.com, "Payouts Web" (September 2026). Wise: its help, "How do I
# fill in my batch template?", by e-mail. SEPA: the names of ISO 20022, pain.001.
LAYOUTS = {
    "plain": Layout(
        "bank, plain: reference, name, IBAN, amount",
        Method.BANK,
        ("reference", "name", "iban", "amount", "currency"),
        lambda to, amount, name: (name, to.name, to.account, amount, CURRENCY),
    ),
    "sepa": Layout(
        "bank, with the field names of SEPA credit transfers",
        Method.BANK,
        (
            "EndToEndId",
            "CreditorName",
            "CreditorIBAN",
            "InstructedAmount",
            "Currency",
            "RemittanceInformation",
        ),
        lambda to, amount, name: (
            *(name, to.name, to.account, amount, CURRENCY),
            f"Genie {name}",
        ),
    ),
    "paypal": Layout(
        "PayPal, mass payment",
        Method.PAYPAL,
        ("email", "amount", "currency", "id", "note", "wallet"),
        lambda to, amount, name: (to.account, amount, CURRENCY, name, "", "PAYPAL"),
        has_header=False,
    ),
    "wise": Layout(
        "Wise, batch by e-mail",
        Method.WISE,
        (
            "name",
            "recipientEmail",
            "paymentReference",
            "receiverType",
            "amountCurrency",
            "amount",
            "sourceCurrency",
            "targetCurrency",
            "type",
        ),
        lambda to, amount, name: (
            *(to.name, to.account, name, "PERSON", "source", amount),
            *(CURRENCY, CURRENCY, "EMAIL"),
        ),
    ),
}


def payout_file(run: PayoutRun) -> str:
    """Write a run's file: the same bytes while its payouts are on their way.

    Raises
    ------
    GenieError
        ``details-unreadable``: a file without one worker would be marked as paid for
        all.
    """
    layout = LAYOUTS[run.layout]
    records = []
    for payout in run.payouts.filter(state=Payout.State.IN_FILE).order_by("pk"):
        recipient = recipient_of(payout.sealed)
        if recipient is None:
            raise GenieError(
                f"The payment details of {payout} can no longer be read. Was "
                "GENIE_SECRET_KEY changed? If the file was not sent, take the run "
                "back.",
                code="details-unreadable",
            )
        amount = f"{payout.amount_cents // 100}.{payout.amount_cents % 100:02}"
        cells = layout.cells(recipient, amount, payout.reference)
        records.append(dict(zip(layout.columns, cells, strict=True)))
    text = csv_text(layout.columns, records)
    return text if layout.has_header else text.partition("\n")[2]
