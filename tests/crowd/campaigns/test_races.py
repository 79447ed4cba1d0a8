"""Several people at the same moment, on a real database file and in real threads."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event

import pytest
from django.db import connections, transaction
from django.utils import timezone

from crowd.campaigns.services import claim, reissue, run
from crowd.campaigns.services.add_money import add_money
from crowd.campaigns.services.more_answers import ask_for_more
from crowd.campaigns.services.work import next_assignment, release_overdue, submit
from crowd.hits.selectors import campaign_progress
from crowd.models import HIT, Assignment, Budget, Commitment, Rating
from crowd.money.services import budgets, payments
from crowd.workers.services import exclusions
from genie.lib.errors import GenieError
from tests.crowd.making import (
    POOL,
    answers_for,
    do_one,
    make_campaign,
    make_worker,
    send_in,
)
from tests.factories import make_user

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.every_engine]
State = Assignment.State


def at_once(*calls):
    """Run the calls in threads that start together; a refusal is a result, too."""
    barrier = Barrier(len(calls))

    def one(call):
        try:
            barrier.wait(timeout=10)
            return call()
        except GenieError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def test_a_tab_that_claims_while_another_looks_for_its_open_hit_wins(monkeypatch):
    make_campaign(3)
    worker = make_worker()
    look, other_tab = claim._read_newest, []

    def look_then_lose(mine):
        seen = look(mine)
        if not other_tab:
            other_tab.append(None)
            other_tab[0] = next_assignment(worker)
        return seen

    monkeypatch.setattr(claim, "_read_newest", look_then_lose)
    assert next_assignment(worker) == other_tab[0]
    assert Assignment.own.count() == 1


def test_of_two_different_answers_at_once_one_counts_and_one_is_refused():
    make_campaign(1)
    assignment = next_assignment(make_worker())

    def send(raw):
        # each has read the assignment for itself
        mine = Assignment.objects.get(pk=assignment.pk)
        return submit(mine, answers_for(mine, raw))

    got = at_once(lambda: send("0"), lambda: send("1"))
    refusals = [one for one in got if isinstance(one, GenieError)]
    assert [error.code for error in refusals] == ["already-submitted"]
    assert Rating.own.count() == 1


def test_two_clean_ups_free_a_place_once():
    make_campaign(1)
    next_assignment(make_worker())
    later = timezone.now() + timedelta(days=1)
    got = at_once(*[lambda: release_overdue(later)] * 3)
    assert sorted(got) == [0, 0, 1]
    assert HIT.own.get().n_available == 1


def test_the_first_commitments_of_all_come_at_the_same_moment(settings):
    settings.GENIE = {**settings.GENIE, "SITE_BUDGET_CENTS": 1_000}
    sam = make_user("sam")
    at_once(
        *[
            lambda i=i: budgets.commit(key=str(i), pool=POOL, amount_cents=600, by=sam)
            for i in range(3)
        ]
    )
    assert Budget.own.count() == 1
    assert Commitment.own.count() == 1


def test_the_same_approval_twice_at_once_sets_money_aside_once():
    sam = make_user("sam")
    at_once(
        *[lambda: budgets.commit(key="same", pool=POOL, amount_cents=600, by=sam)] * 3
    )
    assert Commitment.own.get().amount_cents == 600


def test_a_form_that_adds_money_and_is_sent_twice_at_once_adds_once():
    sam = make_user("sam")
    campaign = make_campaign(1, budget_cents=50)
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=50, by=sam)

    def add():
        return add_money(campaign.pk, 30, budget_cents=50, by=sam, reason="More.")

    got = at_once(*[add] * 4)
    assert sum(isinstance(one, GenieError) for one in got) == 3
    assert Commitment.own.get().amount_cents == 80


def test_a_form_that_asks_for_more_answers_and_is_sent_twice_at_once_asks_once():
    sam = make_user("sam")
    campaign = make_campaign(2, budget_cents=50)
    fields = {"shown": 1, "agreed_cents": 20, "by": sam, "reason": "More."}
    got = at_once(*[lambda: ask_for_more(campaign.pk, 1, **fields)] * 4)
    assert sum(isinstance(one, GenieError) for one in got) == 3
    assert set(campaign.hits.values_list("max_assignments", flat=True)) == {2}
    campaign.refresh_from_db()
    assert campaign.budget_cents == 70


def test_money_added_at_the_moment_of_an_approval_does_not_pass_the_budget():
    Budget.objects.create(pool=None, limit_cents=1_000)
    sam = make_user("sam")
    campaigns = [make_campaign(1, budget_cents=100) for _ in range(3)]
    for one in campaigns:
        budgets.commit(key=one.key, pool=POOL, amount_cents=100, by=sam)

    def add(one):
        return add_money(one.pk, 400, budget_cents=100, by=sam, reason="More.")

    def approve():
        return budgets.commit(key="another", pool=POOL, amount_cents=400, by=sam)

    got = at_once(*[lambda one=one: add(one) for one in campaigns], approve)
    refused = [one for one in got if isinstance(one, GenieError)]
    assert [error.code for error in refused] == ["over-budget"] * 3
    assert budgets.committed_by_pool()[None] == 700


def test_answers_replaced_by_two_processes_go_out_again_once():
    make_campaign(2)
    worker = make_worker()
    do_one(worker), do_one(worker)
    got = at_once(*[lambda: reissue.replace_answers(worker, POOL)] * 3)
    assert sorted(got) == [0, 0, 2]
    assert list(HIT.own.values_list("n_available", "max_assignments")) == [(1, 2)] * 2  # fmt: skip


def test_work_sent_in_while_its_campaign_is_settled_is_in_the_account(monkeypatch):
    campaign = make_campaign(1)
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=100, by=make_user("sam"))
    assignment = next_assignment(make_worker())
    planned, settled, plan = Event(), Event(), payments.plan

    def plan_and_wait(*given):
        cents = plan(*given)
        planned.set()
        settled.wait(timeout=0.5)
        return cents

    def settle():
        planned.wait(timeout=10)
        with transaction.atomic():
            assert run.stop(campaign.pk, None, "Enough.")
            budgets.settle(campaign.key, campaign_progress(campaign).spent_cents)
        settled.set()

    monkeypatch.setattr(payments, "plan", plan_and_wait)
    at_once(lambda: send_in(assignment), settle)
    assert Commitment.own.get().amount_cents == 10


def test_exclusion_and_the_next_hit_at_once_leave_no_open_work():
    for _ in range(4):
        make_campaign(1)
        worker = make_worker()
        at_once(
            lambda w=worker: exclusions.exclude(w, POOL, "Sorry."),
            lambda w=worker: next_assignment(w),
        )
        assert not Assignment.objects.filter(
            worker=worker, state=State.ACCEPTED
        ).exists()
        assert HIT.own.latest("pk").n_available == 1
        HIT.own.update(n_available=0)
