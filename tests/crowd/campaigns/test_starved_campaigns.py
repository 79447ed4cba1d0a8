"""Work that nobody may take is shown to staff, and only that."""

from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.campaigns.services import review, run
from crowd.campaigns.services.run import STARVED
from crowd.campaigns.services.run import watch_crowd as watch
from crowd.campaigns.services.work import give_back, next_assignment
from crowd.models import Assignment, Campaign, Worker
from crowd.workers.services import exclusions, invitations
from tests.crowd.making import POOL, do_all, do_one, items, make_campaign, make_worker


def notice() -> str:
    return Campaign.own.values_list("notice", flat=True).first()


@pytest.fixture
def campaign():
    return make_campaign(3)


def test_a_campaign_without_any_worker_says_so_until_one_joins(campaign):
    assert watch(campaign)
    assert notice() == STARVED
    assert watch(campaign)
    assert notice() == STARVED
    make_worker(agreed=False)  # has not read the consent text yet, but may
    assert not watch(campaign)
    assert notice() == ""


def test_when_all_have_returned_what_is_left_it_is_stuck(campaign):
    workers = [make_worker(), make_worker()]
    for worker in workers:
        while (assignment := next_assignment(worker)) is not None:
            assert not watch(campaign)
            give_back(assignment)
    assert watch(campaign)


def test_when_all_are_excluded_it_is_stuck_and_a_pardon_ends_that(campaign):
    workers = [make_worker(), make_worker()]
    exclusions.exclude(workers[0], POOL, "Sorry.")
    exclusions.exclude(workers[1], "other", "Sorry.")
    assert not watch(campaign)
    Worker.objects.filter(pk=workers[1].pk).update(excluded=True)
    assert watch(campaign)
    exclusions.include(workers[0], POOL)
    assert not watch(campaign)


def test_who_is_paused_is_not_counted_on_until_they_get_work_again(campaign):
    worker = make_worker()
    exclusions.pause(worker, POOL)
    assert watch(campaign)
    exclusions.resume(POOL)
    assert not watch(campaign)
    exclusions.pause(worker, "other")
    assert not watch(campaign)


def test_who_has_not_been_here_for_a_month_is_not_counted_on(campaign):
    worker = make_worker()
    long_ago = timezone.now() - timedelta(days=30, minutes=1)
    Worker.own.update(created_at=long_ago)
    assert watch(campaign)
    do_one(worker)
    assert not watch(campaign)
    Assignment.own.update(accepted_at=long_ago)
    assert watch(campaign)


def test_while_somebody_works_nobody_is_missed(campaign):
    worker = make_worker()
    do_one(worker)
    open_one = next_assignment(worker)
    Worker.own.update(created_at=timezone.now() - timedelta(days=30, minutes=1))
    Assignment.own.update(accepted_at=timezone.now() - timedelta(days=30, minutes=1))
    assert not watch(campaign)
    give_back(open_one)
    assert watch(campaign)


def test_rejected_work_that_only_its_author_could_do_again_is_stuck():
    campaign = make_campaign(1)
    done = do_one(make_worker())
    assert not watch(campaign)
    review.reject(done.pk, None, "No effort.")
    assert watch(campaign)


def test_programs_are_counted_on_for_simulations_only(campaign):
    make_worker(simulated=True)
    assert watch(campaign)
    campaign = make_campaign(1, simulated=True)
    make_worker(simulated=True)
    assert not watch(campaign)


@pytest.mark.parametrize("end", ["pause", "stop", "done"])
def test_a_campaign_that_asks_nobody_is_not_stuck(campaign, end):
    assert watch(campaign)
    if end == "done":
        do_all(make_worker())
        Worker.own.update(excluded=True)
    else:
        getattr(run, end)(campaign.pk, None, *(["Enough."] if end == "stop" else []))
    campaign.refresh_from_db()
    assert not watch(campaign)
    assert STARVED not in notice()


def test_each_input_is_seen_once_in_the_pool_unless_the_campaign_says_otherwise():
    first = make_campaign(2, of=items(2, "a-"))
    worker = make_worker()
    do_all(worker)
    run.stop(first.pk, None, "Over.")
    again = make_campaign(2, of=items(2, "b-"))
    assert watch(again)
    alone = make_campaign(2, of=items(2, "c-"), exposure="campaign")
    assert not watch(alone)


def test_another_notice_stays_beside_it(campaign):
    Campaign.own.update(notice="The budget is used up.")
    assert watch(campaign)
    assert notice() == f"{STARVED} The budget is used up."
    invitations.register_worker(platform_worker_id="new")
    assert not watch(campaign)
    assert notice() == "The budget is used up."
