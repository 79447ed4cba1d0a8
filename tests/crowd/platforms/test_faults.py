"""Whatever goes wrong between us and the platform: once posted, once stored, once paid.

A proxy stands before a real server and breaks calls; or our own process dies between two
writes. Afterwards both sides' books are compared.
"""

from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.campaigns.services import outbox, reissue, run
from crowd.elsewhere.services import collect, decisions, hit_offer, sync
from crowd.jobs import PAGES
from crowd.models import ExternalCampaign, OutwardCall, RequesterHIT
from crowd.money.services import bonuses
from crowd.platforms.base import Result
from crowd.platforms.mturk_protocol import hits as work
from crowd.requester.protocol import clock
from crowd.workers.services import exclusions
from genie.lib.errors import GenieError
from tests.crowd.making import POOL
from tests.crowd.platforms.elsewhere import Elsewhere
from tests.crowd.platforms.faulty import AFTER_COMMIT, BEFORE, FaultyProxy

ENOUGH_LOOKS = 12


class Killed(BaseException):
    """The process is gone: nothing catches this."""


@pytest.fixture
def proxy(turk):
    proxy = FaultyProxy(turk.options["endpoint_url"])
    turk.options |= {
        "endpoint_url": proxy.url,
        "timeout_seconds": 15.0,
        "tries": 2,
    }
    yield proxy
    proxy.close()


def settle(elsewhere, now=None):
    for _ in range(ENOUGH_LOOKS):
        try:
            elsewhere.look(now=now)
        except GenieError as error:
            if error.permanent:
                raise
            continue
        waiting = [OutwardCall.State.PLANNED, OutwardCall.State.SENDING]
        if not OutwardCall.own.filter(state__in=waiting).exists():
            return
    raise AssertionError(list(OutwardCall.own.filter(state__in=waiting).values()))


def whole_life(elsewhere, turk, now=None):
    """Post, answer, reject, ban, answer again, approve, pay a bonus, stop."""
    settle(elsewhere, now)
    first, *_ = elsewhere.answer_all("Wanda")
    settle(elsewhere, now)
    elsewhere.reject(first)
    elsewhere.approve_all()
    settle(elsewhere, now)
    good = elsewhere.assignments().filter(state="APPROVED").first()
    bonuses.give(good.pk, 7, key="thanks", reason="Thank you.", by=turk.staff)
    exclusions.exclude(good.worker, POOL, "No more.")
    reissue.replace_answers(good.worker, POOL)
    settle(elsewhere, now)
    assert len(elsewhere.answer_all("Wilma")) == 2
    settle(elsewhere, now)
    elsewhere.approve_all()
    run.stop(elsewhere.campaign.pk, None, "Enough.")
    settle(elsewhere, now)
    assert not elsewhere.place.is_open


def check_life(elsewhere, turk):
    elsewhere.check_books()
    assert turk.n_posted() == 2
    assert elsewhere.assignments().count() == 4
    assert elsewhere.answers().count() == 4
    # one of Wanda's and two of Wilma's at 10 + 2, one bonus of 7 + 2
    assert turk.charged_cents() == 3 * 12 + 9
    assert turk.paid_cents("Wanda") == 10 + 7
    assert turk.paid_cents("Wilma") == 20


@pytest.mark.parametrize(
    "kinds", [(*BEFORE, "twice"), ("lost", "broken-answer", "slow")]
)
def test_calls_that_break_change_nothing_in_the_end(elsewhere, turk, proxy, kinds):
    proxy.fail(kinds, 0.4)
    if "slow" in kinds:
        turk.options["timeout_seconds"] = 2.0
        proxy.silence = 4.0
    whole_life(elsewhere, turk)
    broken = [fault for _, fault in proxy.seen if fault]
    assert len(broken) >= 5
    assert set(broken) == set(kinds)
    check_life(elsewhere, turk)


def test_short_and_empty_pages_hide_nothing(turk, proxy):
    proxy.short_pages = True
    elsewhere = Elsewhere(turk, max_assignments=2)
    settle(elsewhere)
    for name in ("Wanda", "Wilma"):
        elsewhere.answer_all(name)
    elsewhere.look()
    assert elsewhere.assignments().count() == 4
    elsewhere.check_books()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "hours"),
    [
        ("before-sending", 30),
        ("after-sending", 0),
        ("in-mid-batch", 30),
        ("while-storing", 0),
        ("while-deciding", 30),
    ],
)
def test_after_a_process_dies_the_next_goes_on(
    elsewhere, turk, monkeypatch, where, hours
):
    if where in {"while-storing", "while-deciding"}:
        settle(elsewhere)
        elsewhere.answer_all()
    if where == "while-deciding":
        settle(elsewhere)
        elsewhere.approve_all()
        row = elsewhere.assignments().first()
        bonuses.give(row.pk, 7, key="thanks", reason="Thank you.", by=turk.staff)
    with monkeypatch.context() as patched:
        kill(patched, where)
        with pytest.raises(Killed):
            elsewhere.look()
    turk.slept.clear()
    later = timezone.now() + timedelta(hours=hours)
    monkeypatch.setattr(clock, "now", lambda: later)
    settle(elsewhere, later)
    assert turk.n_posted() == 2
    if where not in {"while-storing", "while-deciding"}:
        # Tokens are dead after a day: it was looked up, with a pause for the index.
        looked_up = hours > 24 and where != "before-sending"
        assert (60.0 in turk.slept) <= (hours > 24)
        assert not looked_up or RequesterHIT.own.count() == 2
        elsewhere.answer_all()
        settle(elsewhere, later)
    elsewhere.approve_all()
    settle(elsewhere, later)
    elsewhere.check_books()
    paid = 27 if where == "while-deciding" else 20
    assert turk.paid_cents("Wanda") == paid


def kill(patched, where):
    def die(*_, **__):
        raise Killed

    def after_one(results):
        yield next(results)
        raise Killed

    if where == "before-sending":
        take = outbox.take
        patched.setattr(
            outbox,
            "take",
            lambda calls, *a, **k: (
                die()
                if [c.kind for c, _ in take(calls, *a, **k)][:1] == ["POST"]
                else [(c, "never") for c in OutwardCall.own.filter(kind="PUBLISH")]
            ),
        )
    elif where == "after-sending":
        note = outbox.note_result
        patched.setattr(
            outbox,
            "note_result",
            lambda call, *a: die() if call.kind == "POST" else note(call, *a),
        )
    elif where == "in-mid-batch":
        from crowd.platforms.mturk_protocol import hits

        post = hits.post
        patched.setattr(hits, "post", lambda *a: after_one(post(*a)))
    elif where == "while-storing":
        patched.setattr(collect.work, "store", die)
    else:
        patched.setattr(decisions.reconcile, "follow", follow_then_die(collect))


def follow_then_die(module):
    real = module.reconcile.follow

    def follow(session, status):
        real(session, status)
        if status == "approved":
            raise Killed

    return follow


def test_a_list_that_lags_is_looked_at_twice(elsewhere, turk, proxy, monkeypatch):
    """The answer was lost, the day is over, and the list does not show the HITs yet."""
    proxy.fail(("lost",), only={"CreateHITWithHITType"})
    elsewhere.look()
    assert turk.n_posted() == 2
    assert elsewhere.calls("POST").filter(state="SENDING").count() >= 1
    proxy.share = 0.0
    proxy.hidden_lists = 1
    later = timezone.now() + timedelta(hours=23, minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    settle(elsewhere, later)
    assert turk.n_posted() == 2
    assert 60.0 in turk.slept


def test_money_that_runs_out_in_mid_batch_is_waited_for(turk, proxy, monkeypatch):
    elsewhere = Elsewhere(turk, n=3, budget_cents=10_000)
    # The balance is asked first; somebody else spends it before we post.
    monkeypatch.setattr("crowd.platforms.mturk.MTurk.balance_cents", lambda _: 99_999)
    turk.spend_all_but(30)
    elsewhere.look()
    assert turk.n_posted() == 2
    assert "insufficient funds" in elsewhere.place.trouble
    assert elsewhere.calls("POST").filter(state="PLANNED").count() == 1
    turk.deposit(1_000, key="more")
    settle(elsewhere)
    assert turk.n_posted() == 3
    elsewhere.answer_all()
    settle(elsewhere)
    elsewhere.approve_all()
    settle(elsewhere)
    elsewhere.check_books()


@pytest.mark.every_engine
def test_an_approval_by_time_races_a_rejection(elsewhere, turk, proxy, monkeypatch):
    """It falls between our look and our decision, and the answer gets lost on top."""
    settle(elsewhere)
    first, *_ = elsewhere.answer_all()
    settle(elsewhere)
    elsewhere.reject(first)
    decide = work.decide

    def late(calls, spec):
        monkeypatch.setattr(clock, "now", lambda: timezone.now() + timedelta(days=3))
        return decide(calls, spec)

    monkeypatch.setattr(work, "decide", late)
    proxy.fail(AFTER_COMMIT[:2], 0.3)
    settle(elsewhere)
    settle(elsewhere)
    assert turk.status(first) == "approved"
    assert elsewhere.assignments().filter(state="APPROVED").count() == 2
    assert turk.paid_cents("Wanda") == 20
    elsewhere.check_books()


@pytest.mark.every_engine
def test_two_processes_at_once_do_everything_once(elsewhere, turk):
    one, two = turk.fresh(), turk.fresh()
    campaign = elsewhere.campaign
    elsewhere.look(one)
    OutwardCall.own.filter(kind="POST").update(state="SENDING")  # both see it so
    elsewhere.look(two)
    assert turk.n_posted() == 2
    elsewhere.answer_all()
    events = list(one.sync(hit_offer.ref_of(campaign, elsewhere.place), None))
    assert collect.collect(campaign, events, PAGES) == 2
    assert collect.collect(campaign, reversed(events), PAGES) == 0
    assert elsewhere.answers().count() == 2


@pytest.mark.every_engine
def test_who_was_paused_sends_and_gives_back_nothing(elsewhere, turk, monkeypatch):
    place = ExternalCampaign.objects.filter(campaign=elsewhere.campaign)
    others = timezone.now() + timedelta(minutes=3)

    def connect_late(_slug):
        # paused for longer than its lease: another process looks at the campaign by now
        place.update(busy_until=others)
        return turk.fresh()

    monkeypatch.setattr(sync, "connect", connect_late)
    sync.sync_campaign(elsewhere.campaign.pk, PAGES)
    assert set(OutwardCall.own.values_list("state", "first_sent_at")) == {
        (OutwardCall.State.PLANNED, None)
    }
    assert not RequesterHIT.own.exists()
    assert place.get().busy_until == others
    place.update(busy_until=None)
    settle(elsewhere)
    assert RequesterHIT.own.count() == 2


@pytest.mark.every_engine
def test_what_another_process_sends_meanwhile_is_not_called_unsent(elsewhere):
    now = timezone.now()
    call = outbox.plan(elsewhere.campaign, OutwardCall.Kind.BONUS, "7")
    ((mine, sent),) = outbox.take([call], now)
    assert outbox.take([call], now) == []  # as it stood before
    later = now + timedelta(minutes=11, seconds=1)
    outbox.take([OutwardCall.own.get()], later)
    outbox.note_result(mine, sent, Result(call.key, "again"), now)
    call.refresh_from_db()
    assert (call.state, call.first_sent_at) == (OutwardCall.State.SENDING, now)


def test_a_call_is_taken_by_who_writes_first(elsewhere, django_assert_num_queries):
    call = outbox.plan(elsewhere.campaign, OutwardCall.Kind.BONUS, "7")
    with django_assert_num_queries(1) as sent:
        assert outbox.take([call], timezone.now(), repeatable=False)
    # PostgreSQL asks of the row again, after a wait, what does not stand in a subquery
    assert '"crowd_outwardcall"."id" IN (SELECT' not in sent[0]["sql"]
