from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from crowd.campaigns.services import review, run
from crowd.campaigns.services.work import next_assignment
from crowd.jobs import approve_waiting
from crowd.models import HIT, Assignment, Commitment, LedgerEntry
from crowd.money.selectors.earnings import Earnings, earnings, earnings_of
from crowd.money.services import budgets, payouts
from tests.crowd.making import POOL, do_all, do_one, make_campaign, make_worker, refused

State = Assignment.State


@pytest.fixture
def worker():
    return make_worker()


def entry_of(assignment):
    return LedgerEntry.objects.get(assignment=assignment)


def test_rejected_work_is_not_paid_says_why_and_goes_out_again(worker, sam):
    make_campaign(1)
    done = do_one(worker)
    refused("reason-missing", review.reject, done.pk, sam, "  ")
    assert entry_of(done).state == LedgerEntry.State.PLANNED
    assert review.reject(done.pk, sam, "All answers came within a second.")
    assert not review.reject(done.pk, sam, "again")
    done.refresh_from_db()
    assert (done.state, done.feedback) == (
        State.REJECTED,
        "All answers came within a second.",
    )
    assert entry_of(done).state == LedgerEntry.State.CANCELLED
    assert earnings(worker) == Earnings()
    assert HIT.own.get().n_available == 1


@pytest.mark.every_engine
def test_decisions_are_final_and_about_what_was_sent_in(worker, sam):
    make_campaign(3)
    one, two = do_one(worker), do_one(worker)
    open_one = next_assignment(worker)
    assert review.approve([open_one.pk], by=sam) == 0
    assert not review.reject(open_one.pk, sam, "Too slow.")
    assert review.approve([one.pk], by=sam) == 1
    first = list(Assignment.own.values_list("decided_at", flat=True))
    assert review.approve([one.pk], by=sam) == 0
    assert list(Assignment.own.values_list("decided_at", flat=True)) == first
    assert LogEntry.objects.count() == 1
    review.reject(two.pk, sam, "No effort.")
    assert not review.reject(one.pk, sam, "No effort.")
    assert review.approve([two.pk]) == 0


def test_rejecting_after_the_campaign_gives_its_money_back(worker, sam):
    campaign = make_campaign(1)
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=10, by=sam)
    done = do_one(worker)
    run.complete(campaign.pk)
    budgets.settle(campaign.key, 10)
    review.reject(done.pk, sam, "No effort.")
    assert Commitment.own.get().amount_cents == 0
    assert HIT.own.get().n_available == 0


def test_waiting_work_is_approved_after_a_day(worker, settings):
    make_campaign(2)
    old, new = do_all(worker)
    hours = settings.GENIE["AUTO_APPROVAL_HOURS"]
    Assignment.objects.filter(pk=old.pk).update(
        submitted_at=timezone.now() - timedelta(hours=hours, minutes=1)
    )
    approve_waiting()
    approve_waiting()
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.state, new.state) == (State.APPROVED, State.SUBMITTED)
    assert old.decided_at is not None


@pytest.mark.every_engine
def test_approved_work_is_paid_once(worker, sam):
    make_campaign(2)
    paid, waiting = do_all(worker)
    review.approve([paid.pk])
    entries = list(LedgerEntry.own.all())
    refused("reference-missing", payouts.by_hand, entries, sam, " ")
    assert payouts.by_hand(entries, sam, "transfer 17") == 1
    assert payouts.by_hand(entries, sam, "transfer 18") == 0
    entry = entry_of(paid)
    assert (entry.state, entry.platform_id) == (LedgerEntry.State.DONE, "transfer 17")
    assert entry.done_at is not None
    assert entry_of(waiting).state == LedgerEntry.State.PLANNED


def test_earnings_go_from_pending_to_approved_to_paid(worker, sam):
    make_campaign(3)
    assert earnings(worker) == Earnings()
    one, two, _ = do_all(worker)
    assert earnings(worker) == Earnings(pending=30)
    review.approve([one.pk, two.pk])
    payouts.by_hand([entry_of(one)], sam, "transfer 17")
    assert earnings(worker) == Earnings(pending=10, approved=10, paid=10)
    assert earnings(worker).total == 30


def test_earnings_of_many_workers_take_few_queries(django_assert_num_queries):
    make_campaign(3)
    workers = [make_worker() for _ in range(3)]
    for one in workers[:2]:
        do_one(one)
    # our campaigns, requesters' rewards and their bonuses
    with django_assert_num_queries(3):
        found = earnings_of(workers)
    assert [found[one.pk].pending for one in workers] == [10, 10, 0]
