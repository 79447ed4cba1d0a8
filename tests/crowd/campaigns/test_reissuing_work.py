import pytest

from crowd.campaigns.services import reissue, review, run
from crowd.campaigns.services.work import next_assignment
from crowd.hits.selectors import campaign_progress, is_done
from crowd.models import HIT, Assignment
from crowd.workers.services import exclusions
from tests.crowd.making import (
    POOL,
    do_all,
    do_one,
    hit_type,
    items,
    make_campaign,
    make_worker,
    send_in,
)


def places():
    return list(HIT.own.order_by("pk").values_list("n_available", "max_assignments"))  # fmt: skip


def n_replaced():
    return Assignment.own.filter(replaced_at__isnull=False).count()


@pytest.fixture
def careless():
    return make_worker()


@pytest.mark.every_engine
def test_answers_that_do_not_count_are_asked_of_somebody_else_once(careless):
    campaign = make_campaign(3)
    do_one(careless), do_one(careless)
    exclusions.exclude(careless, POOL, "Sorry.")
    assert reissue.replace_answers(careless, POOL) == 2
    assert reissue.replace_answers(careless, POOL) == 0
    assert sorted(places()) == [(1, 1), (1, 2), (1, 2)]
    assert not is_done(campaign)
    assert len(do_all(make_worker())) == 3
    assert is_done(campaign)


def test_approved_work_is_replaced_and_stays_approved(careless):
    make_campaign(1)
    done = do_one(careless)
    review.approve([done.pk])
    assert reissue.replace_answers(careless, POOL) == 1
    done.refresh_from_db()
    assert done.state == Assignment.State.APPROVED


@pytest.mark.every_engine
def test_no_more_goes_out_again_than_the_budget_pays(careless):
    campaign = make_campaign(3, budget_cents=45)
    do_all(careless)
    assert reissue.replace_answers(careless, POOL) == 1
    campaign.refresh_from_db()
    assert campaign.notice.startswith("2 answers that do not count were not replaced")
    assert "$0.45" in campaign.notice
    do_one(make_worker())
    progress = campaign_progress(campaign)
    assert progress.spent_cents == progress.committed_cents == 40
    # the two that nobody pays for are not waited for
    assert is_done(campaign)


@pytest.mark.every_engine
def test_two_bans_share_one_budget():
    make_campaign(4, budget_cents=60)
    workers = [make_worker(), make_worker()]
    for worker in workers:
        do_one(worker), do_one(worker)
    assert [reissue.replace_answers(worker, POOL) for worker in workers] == [2, 0]


@pytest.mark.parametrize("end", ["stop", "complete"])
def test_a_campaign_that_is_over_asks_nobody_again(careless, end):
    campaign = make_campaign(1)
    do_one(careless)
    if end == "stop":
        run.stop(campaign.pk, None, "Enough.")
    else:
        run.complete(campaign.pk)
    assert reissue.replace_answers(careless, POOL) == 0
    assert places() == [(0, 1)]


def test_only_the_workers_own_answers_of_that_pool_are_replaced(careless):
    make_campaign(2)
    make_campaign(1, pool="other", of=items(1, "o-"))
    do_one(careless)
    other = do_one(make_worker()).worker
    assert reissue.replace_answers(careless, "other") == 0
    assert reissue.replace_answers(careless, POOL) == 1
    assert n_replaced() == 1
    assert reissue.count_again(other, POOL) == 0
    assert reissue.count_again(careless, "other") == 0


def test_rejected_and_returned_work_is_not_replaced_a_second_time(careless):
    campaign = make_campaign(1)
    review.reject(do_one(careless).pk, None, "No effort.")
    assert places() == [(1, 1)]
    assert reissue.replace_answers(careless, POOL) == 0
    assert places() == [(1, 1)]
    do_one(make_worker())
    assert is_done(campaign)


@pytest.mark.every_engine
def test_work_that_was_replaced_and_then_rejected_goes_out_once(careless):
    campaign = make_campaign(1)
    done = do_one(careless)
    reissue.replace_answers(careless, POOL)
    review.reject(done.pk, None, "No effort.")
    assert reissue.count_again(careless, POOL) == 0
    assert places() == [(1, 2)]
    do_one(make_worker())
    assert is_done(campaign)


def test_after_a_lifted_ban_answers_count_again_where_nobody_else_answered(careless):
    campaign = make_campaign(2)
    do_all(careless)
    reissue.replace_answers(careless, POOL)
    do_one(make_worker())
    assert reissue.count_again(careless, POOL) == 1
    assert reissue.count_again(careless, POOL) == 0
    assert sorted(places()) == [(0, 1), (0, 2)]
    assert n_replaced() == 1
    assert is_done(campaign)


def test_work_that_somebody_has_open_is_not_withdrawn_under_their_hands(careless):
    make_campaign(1)
    do_one(careless)
    reissue.replace_answers(careless, POOL)
    open_one = next_assignment(make_worker())
    assert reissue.count_again(careless, POOL) == 0
    assert send_in(open_one).state == Assignment.State.SUBMITTED


def test_a_second_ban_after_a_lifted_one_replaces_again(careless):
    make_campaign(1)
    do_one(careless)
    reissue.replace_answers(careless, POOL)
    reissue.count_again(careless, POOL)
    assert reissue.replace_answers(careless, POOL) == 1
    assert places() == [(1, 2)]


def test_unpaid_work_can_go_out_again_as_often_as_needed(careless):
    make_campaign(2, hit_type=hit_type(reward_cents=0), budget_cents=0)
    do_all(careless)
    assert reissue.replace_answers(careless, POOL) == 2
