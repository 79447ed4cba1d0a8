"""Agreement, test questions and speed while a campaign runs; notices with what solves them."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.models import Assignment, Campaign, Rating
from leaderboard.monitoring.admin import solutions
from leaderboard.monitoring.over_time import SMALLEST, over_time
from quality.models import TestQuestion
from tests.cast import allow
from tests.crowd.making import POOL, do_all, do_one, make_campaign, make_worker
from tests.each import each
from tests.factories import make_task, make_user
from tests.kept import kept

pytestmark = pytest.mark.django_db
N = 2 * SMALLEST


@pytest.fixture
def worked(db):
    return kept("two hour by hour", _worked)


def _worked():
    """Two workers do the same HITs, hour by hour, the second one ever faster.

    In another campaign two others have contradicted each other, very slowly.
    """
    make_campaign(4, max_assignments=2, pool="elsewhere")
    for raw in ("0", "1"):
        do_all(make_worker("elsewhere"), raw, active_seconds=9999)
    campaign = make_campaign(N, max_assignments=2)
    start = timezone.now() - timedelta(hours=N)
    for who in (make_worker(), make_worker()):
        for i in range(N):
            done = do_one(who)
            Assignment.objects.filter(pk=done.pk).update(
                submitted_at=start + timedelta(hours=i), active_seconds=60 - 2 * i
            )
    return campaign


def test_speed_is_told_in_pieces_and_raises_an_alarm(worked):
    course = over_time(worked)
    assert [point.n for point in course.seconds] == [10, 10, 10, 10]
    values = [point.value for point in course.seconds]
    assert values == sorted(values, reverse=True)
    assert not course.too_fast
    Assignment.own.update(active_seconds=0.001)
    assert over_time(worked).too_fast
    Campaign.own.update(simulated=True)
    worked.refresh_from_db()
    assert over_time(worked).least_seconds is None
    assert not over_time(worked).too_fast


def test_agreement_is_of_all_real_items_so_far(worked):
    of_it = Rating.objects.filter(item__campaign=worked)
    by_item = list(of_it.order_by("item", "pk"))
    for i, answer in enumerate(by_item):
        answer.value = (i // 2 % 5) / 4  # both give the same, from 0 to 1
    Rating.objects.bulk_update(by_item, ["value"])
    assert {point.value for point in over_time(worked).agreement} == {1.0}
    # what is a test question says nothing of agreement
    for item in {answer.item_id for answer in by_item}:
        TestQuestion.objects.create(campaign=worked, item_id=item, polarity="POSITIVE")
    assert over_time(worked).agreement == []


def test_a_campaign_where_nothing_has_happened_draws_nothing():
    course = over_time(make_campaign(1))
    assert (course.agreement, course.tests, course.seconds) == ([], [], [])
    assert not course.too_fast


def test_the_page_says_the_last_figures_and_the_alarm(worked):
    make_task(POOL, n_instances=1)
    Assignment.own.update(active_seconds=0.001)
    Campaign.own.update(notice=run.TOO_FAST)
    client = Client()
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    address = reverse("admin:crowd_campaign_change", args=[Campaign.own.first().pk])
    text = client.get(address).text
    assert "Median seconds, reading takes" in text
    assert "Faster than the texts can be read." in text
    assert f"{reverse('admin:quality_grade_changelist')}?pool={POOL}" in text


@each(
    ("notice", "buttons", "pages"),
    [
        (run.UNDERPAID, ["make_up_selected", "change_reward_selected"], 0),
        (run.HELD_BY_SHARES, ["lift_share_selected"], 1),
        (run.STARVED, [], 1),
        ("Stopped: no money.", [], 0),
        (
            "3 answers that do not count were not replaced: the campaign's budget of "
            "$1.00 is used up.",
            ["add_money_selected"],
            0,
        ),
    ],
)
def test_each_notice_has_what_solves_it_for_who_may(notice, buttons, pages):
    campaign = make_campaign(1)
    campaign.notice = notice
    olga = make_user("olga", is_staff=True)
    assert solutions(campaign, olga) == []
    allow(olga, "crowd.change_campaign", "crowd.add_invitation")
    found = solutions(campaign, _again(olga))
    assert [one.action for one in found if one.action] == buttons
    assert sum(bool(one.url) for one in found) == pages


def _again(user):
    return type(user).objects.get(pk=user.pk)
