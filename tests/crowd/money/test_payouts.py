"""A month of payouts: whatever is planned, filed, paid or failed, nothing is lost."""

import csv
from datetime import date, timedelta
from io import StringIO
from itertools import count
from threading import Thread

import pytest
from django.core import mail
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services import review
from crowd.campaigns.services.overturn import overturn
from crowd.examinations import money
from crowd.jobs import mail_message, plan_payouts
from crowd.models import (
    LedgerEntry,
    PaymentDetails,
    Payout,
    PayoutRun,
    PayoutTerms,
    Worker,
)
from crowd.money.selectors.earnings import earnings
from crowd.money.selectors.payouts import (
    NOT_PAID,
    due,
    last_date,
    next_date,
    next_for,
    sums,
)
from crowd.money.services import bonuses, payouts
from crowd.money.services import payouts as payment_details
from crowd.money.services.payouts import payout_file
from crowd.worker_site.preferences import is_iban
from genie.lib.errors import GenieError
from genie.lib.unguessable import open_sealed, seal
from leaderboard.teams.services import leave
from tests.crowd.making import do_all, do_one, item, make_campaign, make_worker
from tests.factories import make_user, signed_in

State = Payout.State
_number = count()
IBAN, OTHER_IBAN = "GB82WEST12345698765432", "DE89370400440532013000"


@pytest.fixture
def fin():
    return make_user("fin", is_staff=True, is_superuser=True)


def signed_up(name, method="BANK", account=IBAN):
    worker = make_worker(user=make_user(name))
    save(worker, method, account)
    return worker


def save(worker, method="BANK", account=IBAN):
    payment_details.save_details(
        worker, method, payment_details.Recipient("=Ada, Ω", account)
    )


def fresh(n):
    number = next(_number)
    return make_campaign(n, of=[item(f"{number}-{i}") for i in range(n)])


def earned(worker, n):
    fresh(n)
    done = do_all(worker)
    assert len(done) == n
    review.approve([one.pk for one in done])
    return done


def terms(**values):
    values = {"every": "MONTH", "day": 1, "minimum_cents": 1, **values}
    return PayoutTerms.objects.update_or_create(pk=1, defaults=values)[0]


def filed(run, by):
    ready, _ = payouts.in_file(run)
    layout = {"BANK": "sepa", "PAYPAL": "paypal", "WISE": "wise"}[run.method]
    return payouts.file(run, by, layout, sum(one.amount_cents for one in ready))


def told(by, *rows):
    said = [payouts.Outcome(one.pk, word, reason) for one, word, reason in rows]
    return payouts.settle(said, by)


def add_up():
    """Check that payouts are the sums of their ledger entries, in the right states."""
    assert "payouts" not in money().sentence
    open_or_paid = Payout.own.exclude(state__in=NOT_PAID)
    cents = {one.pk: one.amount_cents for one in open_or_paid}
    assert sums(list(cents)) == cents
    states = dict(open_or_paid.values_list("pk", "state"))
    fits = {State.PLANNED: "PLANNED", State.IN_FILE: "SENDING", State.PAID: "DONE"}
    for entry in LedgerEntry.own.exclude(payout=None):
        assert entry.state == fits[State(states[entry.payout_id])]
    loose = LedgerEntry.own.filter(payout=None)
    assert not loose.filter(state__in=["SENDING", "DONE"]).exists()


@pytest.mark.every_engine
def test_a_month(fin, monkeypatch):
    terms(minimum_cents=25, planned_on=date(2026, 10, 31))
    ada, ben, eve = signed_up("ada"), signed_up("ben"), make_worker(user=make_user("e"))
    eve_too_little = signed_up("kim", "WISE", "kim@example.org")
    monkeypatch.setattr(timezone, "localdate", lambda *a, **k: date(2026, 11, 1))
    first, *_ = earned(ada, 4)
    earned(ben, 3)
    earned(eve, 3)
    earned(eve_too_little, 2)
    fresh(1)
    reversed_ = do_one(ada)
    review.reject(reversed_.pk, fin, "A mistake of ours.")
    bonuses.give(first.pk, 7, key="a", reason="Thanks.", by=fin)

    plan_payouts()
    plan_payouts()
    [run] = PayoutRun.own.all()
    assert (run.method, run.due_on) == ("BANK", date(2026, 11, 1))
    assert dict(run.payouts.values_list("worker", "amount_cents")) == {ada.pk: 47, ben.pk: 30}  # fmt: skip
    assert next_for(eve).lacks == "details"
    assert eve.messages.get().subject == "We do not know where to send your money"
    assert next_for(eve_too_little).is_carried_over
    assert next_for(ada).under_way_cents == 47
    add_up()

    with pytest.raises(GenieError, match="in no file yet"):
        told(fin, (run.payouts.first(), "paid", ""))
    filed(run, fin)
    add_up()
    text = payout_file(run := PayoutRun.own.get())
    rows = {row["EndToEndId"]: row for row in csv.DictReader(StringIO(text))}
    assert payout_file(run) == text
    assert {row["CreditorName"] for row in rows.values()} == {"'=Ada, Ω"}
    assert sorted(row["InstructedAmount"] for row in rows.values()) == ["0.30", "0.47"]
    to_ada, to_ben = run.payouts.order_by("amount_cents").reverse()
    back = (to_ada, "paid", ""), (to_ben, "returned", "Closed")
    assert told(fin, *back) == 2
    assert told(fin, *back) == 0
    assert PayoutRun.own.get().state == "CLOSED"
    assert earnings(ada).paid == 47
    assert next_for(ben).lacks == "correction"
    letter_to_ben = ben.messages.exclude(subject__contains="changed").get()
    assert "Closed" in letter_to_ben.text
    user = ben.user
    user.email = "ben@example.org"
    user.save()
    user.emailaddress_set.create(email=user.email, verified=True, primary=True)
    for _ in range(2):
        mail_message(letter_to_ben.pk)
    [letter] = [one for one in mail.outbox if letter_to_ben.subject in one.subject]
    assert (letter.to, letter.subject) == (
        [user.email],
        f"[Genie] {letter_to_ben.subject}",
    )
    assert letter_to_ben.text in letter.body
    assert set(Payout.own.values_list("sealed", flat=True)) == {""}
    add_up()

    # the second run: a reversed rejection, a returned payment, corrected details
    assert overturn(reversed_.pk, by=fin, reason="Right after all.")
    assert told(fin, (to_ada, "returned", "No such account")) == 1
    save(ada, "PAYPAL", "ada@example.org")
    save(ben, "BANK", OTHER_IBAN)
    save(eve)
    earned(eve_too_little, 1)
    monkeypatch.setattr(timezone, "localdate", lambda *a, **k: date(2026, 12, 2))
    plan_payouts()
    runs = {run.method: run for run in PayoutRun.own.filter(state="PLANNED")}
    cents = {name: sum(run.payouts.values_list("amount_cents", flat=True)) for name, run in runs.items()}  # fmt: skip
    assert cents == {"BANK": 60, "PAYPAL": 57, "WISE": 30}
    for run in runs.values():
        filed(run, fin)
    paypal, wise = (payout_file(PayoutRun.objects.get(method=m)) for m in ("PAYPAL", "WISE"))  # fmt: skip
    assert paypal.startswith("ada@example.org,0.57,USD,GP")
    assert wise.startswith("name,recipientEmail,paymentReference,")
    still = Payout.own.filter(state=State.IN_FILE)
    assert told(fin, *((one, "paid", "") for one in still)) == 4
    add_up()
    assert due() == {}
    of_people = LedgerEntry.own.filter(state="DONE")
    assert sum(of_people.values_list("amount_cents", flat=True)) == 147
    paid = Payout.own.filter(state=State.PAID).values_list("amount_cents", flat=True)
    assert sum(paid) == 147
    assert sum(earnings(one).paid for one in (ada, ben, eve, eve_too_little)) == 147
    # what was reversed is not paid twice, and an old answer cannot undo a new state
    with pytest.raises(GenieError, match="due again"):
        told(fin, *back)
    add_up()


def test_a_crash_between_two_writes_leaves_nothing(fin, monkeypatch):
    terms()
    worker = signed_up("ada")
    earned(worker, 2)
    for where in ("claim", "check", "pay", "close"):
        with monkeypatch.context() as broken:
            broken.setattr(f"crowd.money.services.moves.{where}", lambda *a, **k: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                [run] = payouts.plan(date(2026, 11, 1), fin)
                filed(run, fin)
                payouts.settle([payouts.Outcome(run.payouts.get().pk, "paid")], fin)
        add_up()
        for run in PayoutRun.own.exclude(state="CLOSED"):
            payout = run.payouts.get()
            payouts.take_back(run, fin, "Again.")
            with pytest.raises(GenieError):
                told(fin, (payout, "paid", ""))
        assert due() == {worker.pk: 20}
    assert not PaymentDetails.objects.filter(wrong=True).exists()


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="one writer at a time")
def test_two_staff_at_once(fin):
    terms()
    earned(signed_up("ada"), 2)
    said = []

    def at_once(act):
        def run():
            try:
                said.append(act())
            except GenieError as error:
                said.append(error.code)
            finally:
                connection.close()

        threads = [Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        got, said[:] = list(said), []
        return got

    assert sorted(map(len, at_once(lambda: payouts.plan(date(2026, 11, 1))))) == [0, 0, 1]  # fmt: skip
    run = PayoutRun.own.get()
    assert sorted(map(str, at_once(lambda: payouts.file(run, fin, "plain", 20).pk))).count("not-planned") == 2  # fmt: skip
    paid = [payouts.Outcome(run.payouts.get().pk, "paid")]
    assert sorted(at_once(lambda: payouts.settle(paid, fin))) == [0, 0, 1]
    entries = list(LedgerEntry.own)
    assert at_once(lambda: payouts.by_hand(entries, fin, "again")) == [0, 0, 0]
    add_up()


def test_staff_approve_the_total_that_they_saw(fin):
    terms()
    ada, ben = signed_up("ada"), signed_up("ben")
    earned(ada, 2)
    earned(ben, 1)
    client = signed_in(fin)
    page = reverse("admin:crowd_payoutrun_changelist")
    asked = client.get(reverse("admin:crowd_payoutrun_add")).text
    assert "<td>2</td><td>$0.30</td>" in asked
    client.post(reverse("admin:crowd_payoutrun_add"))
    run = PayoutRun.own.get()
    chosen = {"action": "file_selected", "_selected_action": [run.pk]}
    shown = client.post(page, chosen).text
    assert "$0.30" in shown
    payment_details.forget_details(ben)
    yes = {**chosen, "confirmed": "yes", "layout": "plain", "agreed": "30"}
    refused = client.post(page, yes, follow=True).text
    assert "The total is $0.20 now" in refused
    made = client.post(page, {**yes, "agreed": "20"}, follow=True).text
    file = reverse("admin:crowd_payoutrun_file", args=[run.pk])
    assert file in made
    got = client.get(file)
    assert IBAN in got.text
    assert "attachment" in got["Content-Disposition"]
    sent = {"action": "paid_selected", "_selected_action": [run.pk], "confirmed": "yes", "reference": "T1"}  # fmt: skip
    answer = client.post(page, sent, follow=True)
    assert "1 payouts changed" in answer.text
    assert (next_for(ben).amount_cents, earnings(ada).paid) == (10, 20)
    assert IBAN not in client.get(reverse("admin:crowd_payout_changelist")).text  # fmt: skip
    fin.is_superuser = False
    fin.save()
    assert client.get(file).status_code == 403


def test_a_file_pays_whom_it_was_approved_for_until_it_is_over(fin, settings):
    terms()
    ada, ben = signed_up("ada"), signed_up("ben")
    earned(ada, 2)
    earned(ben, 1)
    [run] = payouts.plan(date(2026, 11, 1), fin)
    run = filed(run, fin)
    text = payout_file(run)
    # whoever deletes their details now would be marked as paid with all others
    payment_details.forget_details(ben)
    assert payout_file(run) == text
    # nor is anybody left out without a word where the key is gone
    key, settings.SECRET_KEY = settings.SECRET_KEY, "another"
    client = signed_in(fin)
    file = reverse("admin:crowd_payoutrun_file", args=[run.pk])
    said = client.get(file, follow=True).text
    assert "can no longer be read" in said
    settings.SECRET_KEY = key
    payouts.settle([payouts.Outcome(one.pk, "paid") for one in run.payouts.all()], fin)
    assert set(Payout.own.values_list("sealed", flat=True)) == {""}
    add_up()


def test_details_are_sealed_shown_in_part_and_deleted(settings):
    worker = make_worker(user=make_user("ada"))
    client = signed_in(worker.user)
    page = reverse("work:payment")
    wrong = {"method": "BANK", "name": "Ada", "iban": "GB82WEST12345698765433"}
    assert client.post(page, wrong).status_code == 422
    assert client.post(page, {"method": "PAYPAL", "name": "Ada"}).status_code == 422
    # in the file it would be '+ada@example.org, somebody else's
    plus = {"method": "PAYPAL", "name": "Ada", "email": "+ada@example.org"}
    assert client.post(page, plus).status_code == 422
    client.post(page, {"method": "PAYPAL", "name": "Ada", "email": "a@example.org"})
    assert '<option value="PAYPAL" selected>' in client.get(page).text
    spaced = "gb82 WEST 1234 5698 7654 32"
    shown = client.post(page, {**wrong, "iban": spaced}, follow=True).text
    assert "Your payment details were saved." in shown
    assert "…5432" in shown
    assert IBAN not in shown
    details = PaymentDetails.objects.get()
    assert IBAN not in details.sealed
    assert payment_details.recipient_of(details.sealed).account == IBAN
    old = settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    assert open_sealed(details.sealed) is None
    client.force_login(worker.user)
    assert "cannot be read" in client.get(page).text
    settings.SECRET_KEY_FALLBACKS = [old]
    client.force_login(worker.user)
    assert payment_details.recipient_of(details.sealed).account == IBAN
    assert open_sealed(seal("x")) == "x"
    client.post(page, {"delete": "yes"})
    assert not PaymentDetails.objects.exists()
    assert client.get(page).status_code == 200
    Worker.own.update(platform="panel")
    assert client.get(page).status_code == 404  # the panel pays
    save(worker)
    leave.delete(worker.user.pk)
    assert not PaymentDetails.objects.exists()


def test_days_of_payouts():
    weekly, monthly = (
        PayoutTerms(every="WEEK", day=5),
        PayoutTerms(every="MONTH", day=28),
    )
    day = date(2026, 2, 26)  # a Thursday
    assert (next_date(weekly, day), last_date(weekly, day)) == (date(2026, 2, 27), date(2026, 2, 20))  # fmt: skip
    assert (next_date(monthly, day), last_date(monthly, day)) == (date(2026, 2, 28), date(2026, 1, 28))  # fmt: skip
    monthly.planned_on = date(2026, 2, 28)
    assert next_date(monthly, date(2026, 2, 28)) == date(2026, 3, 28)
    assert next_date(PayoutTerms(every="NEVER"), day) is None
    for n in range(400):
        one = day + timedelta(days=n)
        assert last_date(weekly, one) <= one <= next_date(PayoutTerms(every="WEEK", day=5), one)  # fmt: skip


def test_ibans():
    assert all(map(is_iban, [IBAN, OTHER_IBAN, "NO9386011117947"]))
    assert not any(map(is_iban, ["", "GB82", IBAN[:-1], "1B82WEST12345698765432", "ＧB82WEST12345698765432"]))  # fmt: skip
