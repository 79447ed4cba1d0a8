"""A campaign kept to one worker does not wait for ever for one who has left."""

from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.campaigns.services import claim
from crowd.campaigns.services.claim import PASSED_ON
from crowd.campaigns.services.run import watch_crowd as watch
from crowd.campaigns.services.work import give_back, next_assignment
from crowd.models import Assignment, Campaign, Reservation
from tests.crowd.making import do_all, do_one, make_campaign, make_worker

NOW = timezone.now()
HOUR = timedelta(hours=1)


@pytest.fixture
def campaign(settings):
    settings.GENIE = {**settings.GENIE, "RESERVATION_HOURS": 48}
    campaign = make_campaign(4)
    claim.reserve_for_one_worker(campaign)
    return campaign


def notice():
    return Campaign.own.values_list("notice", flat=True).get()


def test_it_stays_with_its_worker_until_the_time_is_over(campaign):
    first, second = make_worker(), make_worker()
    do_one(first)
    assert do_one(second) is None
    assert not claim.pass_on_reservation(campaign, NOW + 47 * HOUR)
    assert do_one(second) is None
    assert claim.pass_on_reservation(campaign, NOW + 49 * HOUR)
    assert notice() == PASSED_ON
    assert do_one(second) is not None
    assert Reservation.own.get().worker == second
    assert do_one(first) is None


def test_staff_are_told_once_however_often_it_happens(campaign):
    Campaign.own.update(notice="Something else.")
    workers = [make_worker(), make_worker()]
    for worker in workers:
        do_one(worker)
        assert claim.pass_on_reservation(campaign, NOW + 99 * HOUR)
    assert notice() == f"{PASSED_ON} Something else."


def test_somebody_at_work_is_waited_for(campaign):
    worker = make_worker()
    next_assignment(worker)
    assert not claim.pass_on_reservation(campaign, NOW + 99 * HOUR)


def test_who_returned_all_that_is_left_does_not_keep_it(campaign):
    worker = make_worker()
    while (assignment := next_assignment(worker)) is not None:
        give_back(assignment)
    assert claim.pass_on_reservation(campaign, NOW)
    assert do_one(make_worker()) is not None


def test_nothing_left_and_nobody_chosen_and_a_pause_change_nothing(campaign):
    assert not claim.pass_on_reservation(campaign, NOW + 99 * HOUR)
    worker = make_worker()
    do_one(worker)
    campaign.state = Campaign.State.PAUSED
    assert not claim.pass_on_reservation(campaign, NOW + 99 * HOUR)
    campaign.state = Campaign.State.RUNNING
    do_all(worker)
    assert Assignment.own.count() == 4
    assert not claim.pass_on_reservation(campaign, NOW + 99 * HOUR)
    assert not claim.pass_on_reservation(make_campaign(1), NOW + 99 * HOUR)


def test_a_campaign_whose_own_worker_can_do_no_more_is_stuck(campaign):
    worker, _other = make_worker(), make_worker()
    do_one(worker)
    assert not watch(campaign)
    while (assignment := next_assignment(worker)) is not None:
        give_back(assignment)
    assert watch(campaign)
    claim.pass_on_reservation(campaign, NOW)
    assert not watch(campaign)
