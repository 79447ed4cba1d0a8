import math
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.campaigns.services.work import (
    assignment_of,
    give_back,
    next_assignment,
    release_overdue,
    submit,
)
from crowd.hits.models import Campaign
from crowd.models import HIT, Assignment, Commitment, LedgerEntry, Rating, Worker
from crowd.money.services import budgets
from crowd.workers.services import exclusions
from genie.lib.errors import GenieError
from tests.crowd.making import (
    POOL,
    answers_for,
    hit_type,
    make_campaign,
    make_worker,
    send_in,
)
from tests.factories import make_user
from tests.steps import steps

State = Assignment.State


@pytest.fixture
def assignment():
    make_campaign(1)
    return next_assignment(make_worker())


def refused(assignment, answers=None):
    before = (Rating.own.count(), LedgerEntry.own.count())
    with pytest.raises(GenieError) as caught:
        submit(assignment, answers_for(assignment) if answers is None else answers)
    assert (Rating.own.count(), LedgerEntry.own.count()) == before
    return caught.value.code


def test_an_answer_becomes_a_rating_and_plans_the_reward_once(assignment):
    remark = "  line 1\nline 2 \x00\x1b[31m\u202e<b>" + "x" * 3_000
    first = send_in(assignment, "0.75", active_seconds=0.0, remark=remark)
    # the same again changes nothing, and another is refused
    second = send_in(assignment, remark="twice")
    assert (second.state, second.submitted_at) == (first.state, first.submitted_at)
    assert refused(assignment, answers_for(assignment, "0")) == "already-submitted"
    assignment.refresh_from_db()
    answer = Rating.own.get()
    assert (answer.criterion, answer.value, answer.raw) == ("overall", 0.75, "0.75")
    assert answer.item == assignment.hit.items.get()
    assert assignment.state == State.SUBMITTED
    # a remark keeps its lines and loses what cannot be shown
    assert assignment.remark.startswith("line 1\nline 2 [31m<b>xxx")
    assert len(assignment.remark) == 2_000
    entry = LedgerEntry.own.get()
    planned = (entry.idempotency_key, entry.kind, entry.state, entry.amount_cents)
    assert planned == (f"reward:{assignment.pk}", "REWARD", "PLANNED", 10)


def test_a_fee_that_came_after_the_page_is_planned(assignment):
    Campaign.own.update(fee_cents=2)
    send_in(assignment)
    assert sum(LedgerEntry.own.values_list("amount_cents", flat=True)) == 12


def test_what_a_page_sends_is_never_trusted(assignment):
    for raw in ["0.6", "2", "-1", "nan", "", "agree", "1;drop", "²"]:
        code = refused(assignment, answers_for(assignment, raw))
        assert code == ("not-on-the-scale" if raw else "answer-missing")
        assignment.refresh_from_db()
        assert assignment.state == State.ACCEPTED


def test_every_question_wants_an_answer_and_no_other_is_taken():
    make_campaign(1, hit_type=hit_type(criteria={"fluent": "F?", "right": "R?"}))
    assignment = next_assignment(make_worker())
    key = assignment.hit.items.get().key
    whole = {"fluent": "1", "right": "0"}
    assert refused(assignment, {}) == "answer-missing"
    assert refused(assignment, {key: {"fluent": "1"}}) == "answer-missing"
    assert refused(assignment, {key: {**whole, "x": "1"}}) == "unknown-question"
    assert refused(assignment, {key: whole, "other": whole}) == "unknown-question"
    submit(assignment, {key: whole})
    assert set(Rating.own.values_list("criterion", "value")) == {("fluent", 1), ("right", 0)}  # fmt: skip


def test_nobody_can_answer_for_somebody_else(assignment):
    assert assignment_of(assignment.worker, assignment.pk) == assignment
    for who, pk in ((make_worker(), assignment.pk), (assignment.worker, 0), (assignment.worker, 1 << 64)):  # fmt: skip
        with pytest.raises(GenieError) as caught:
            assignment_of(who, pk)
        assert caught.value.code == "not-yours"


def test_an_answer_long_after_the_deadline_is_refused_and_the_hit_is_free(assignment):
    Assignment.own.update(deadline_at=timezone.now() - timedelta(minutes=5))
    assert refused(assignment) == "too-late"
    assert refused(assignment) == "too-late"
    assignment.refresh_from_db()
    assert assignment.state == State.EXPIRED
    assert HIT.own.get().n_available == 1


def test_an_answer_to_returned_work_is_refused(assignment):
    assert [give_back(assignment) for _ in range(2)] == [True, False]
    assert refused(assignment) == "work-returned"
    assert HIT.own.get().n_available == 1
    taken_back = next_assignment(make_worker())
    exclusions.exclude(taken_back.worker, POOL, "Sorry.")
    assert HIT.own.get().n_available == 1
    assert refused(taken_back) == "work-returned"


@pytest.mark.every_engine
def test_overdue_work_goes_back_to_the_pool_once(assignment):
    later = timezone.now() + timedelta(minutes=33)
    assert [release_overdue(later) for _ in range(2)] == [1, 0]
    assert HIT.own.get().n_available == 1
    assert next_assignment(make_worker()) is not None


@pytest.mark.every_engine
@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite tells what it did")
def test_what_was_done_in_time_is_not_read_to_find_what_is_overdue(assignment):
    before = steps(release_overdue)
    workers = Worker.objects.bulk_create(
        Worker(platform_worker_id=f"W{n}", pseudonym=f"w-{n:010x}") for n in range(300)
    )
    then = timezone.now() - timedelta(days=300)
    Assignment.objects.bulk_create(
        Assignment(
            hit=assignment.hit,
            worker=worker,
            state=State.APPROVED,
            reward_cents=9,
            accepted_at=then,
            deadline_at=then,
        )
        for worker in workers
    )
    assert steps(release_overdue) < before + 20


def test_an_answer_just_after_the_deadline_still_counts_and_is_not_returned(assignment):
    assert release_overdue(timezone.now() + timedelta(minutes=29)) == 0
    Assignment.own.update(deadline_at=timezone.now() - timedelta(seconds=30))
    assert release_overdue() == 0
    assert send_in(assignment).state == State.SUBMITTED
    assert not give_back(assignment)
    assignment.refresh_from_db()
    assert assignment.state == State.SUBMITTED
    assert HIT.own.get().n_available == 0


def test_what_people_have_open_when_a_campaign_stops_may_still_come_in(assignment):
    campaign = assignment.hit.campaign
    boss = make_user("boss")
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=500, by=boss)
    run.stop(campaign.pk, by=boss, reason="Enough.")
    budgets.settle(campaign.key, 0)
    assert send_in(assignment).state == State.SUBMITTED
    # ... and the account that was closed without it is right again
    assert Commitment.own.get().amount_cents == 10


def test_active_time_is_believed_up_to_the_time_that_passed():
    told = {None: None, math.nan: None, math.inf: None, -1.0: None, 3.5: 3.5, 9e3: 60}
    make_campaign(len(told))
    worker = make_worker()
    for measured, kept in told.items():
        assignment = next_assignment(worker)
        assignment.accepted_at = timezone.now() - timedelta(seconds=60)
        assignment.save()
        send_in(assignment, active_seconds=measured)
        assignment.refresh_from_db()
        expected = kept and pytest.approx(kept, abs=2)
        assert assignment.active_seconds == expected, measured


def test_the_platforms_share_is_planned_beside_the_reward():
    make_campaign(1, platform="mturk")
    worker = make_worker()
    worker.platform = "mturk"
    worker.save()
    assignment = next_assignment(worker)
    send_in(assignment)
    send_in(assignment)
    assert sorted(LedgerEntry.own.values_list("kind", "amount_cents")) == [
        ("FEE", 2),
        ("REWARD", 10),
    ]
