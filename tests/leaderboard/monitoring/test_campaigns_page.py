"""Staff see how campaigns go: pace, expected end, money against plan, test questions."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowd.models import Assignment, Campaign, LedgerEntry
from leaderboard.monitoring.selectors import watch_campaigns
from quality.models import Grade, TestQuestion
from tests.crowd.making import do_one, make_campaign, make_worker
from tests.factories import make_task

HOUR = timedelta(hours=1)


@pytest.fixture
def task(db):
    return make_task("weather-reports", n_instances=4, sample_size=4)


@pytest.fixture
def boss(request):
    client = Client()
    client.force_login(request.getfixturevalue("superuser"))
    return client


def work(n, *, hours_ago, worker=None):
    """Let one worker send in some HITs, as if it had been so many hours ago."""
    worker = worker or make_worker()
    done = [do_one(worker) for _ in range(n)]
    at = timezone.now() - hours_ago * HOUR
    pks = [assignment.pk for assignment in done]
    Assignment.objects.filter(pk__in=pks).update(accepted_at=at, submitted_at=at)
    LedgerEntry.objects.filter(assignment__in=pks).update(created_at=at)
    return done


@pytest.mark.every_engine
def test_the_pace_is_that_of_the_last_day_and_says_when_it_will_end():
    campaign = make_campaign(12)
    work(4, hours_ago=40)
    work(2, hours_ago=4)
    now = timezone.now()
    (row,) = watch_campaigns([campaign], now)
    assert row.n_workers == 2
    assert row.n_active == 0
    assert row.per_hour == pytest.approx(0.5, rel=1e-3)
    assert (row.expected_end - now) / HOUR == pytest.approx(12, rel=1e-3)


def test_answers_are_counted_where_a_hit_asks_for_several():
    campaign = make_campaign(4, max_assignments=3, budget_cents=120)
    work(4, hours_ago=4)
    now = timezone.now()
    (row,) = watch_campaigns([campaign], now)
    assert (row.progress.n_answers, row.progress.n_asked) == (4, 12)
    assert (row.expected_end - now) / HOUR == pytest.approx(8, rel=1e-3)
    assert row.planned_cents == 40


@pytest.mark.parametrize("done", [0, 3])
def test_without_recent_work_or_without_anything_left_no_end_is_expected(done):
    campaign = make_campaign(3)
    if done:
        work(done, hours_ago=1)
    (row,) = watch_campaigns([campaign], timezone.now())
    assert row.expected_end is None
    assert (row.per_hour is None) is (done == 0)


def test_spending_stands_beside_what_the_plan_allows_for_as_many_hits():
    campaign = make_campaign(4, budget_cents=60)
    work(2, hours_ago=5)
    work(1, hours_ago=1)
    (row,) = watch_campaigns([campaign], timezone.now())
    assert row.progress.spent_cents == 30
    assert row.planned_cents == 45
    assert [(p.n_hits, p.cents) for p in row.periods] == [(2, 20), (1, 10)]
    # a paused campaign expects no end
    assert row.expected_end is not None
    campaign.state = Campaign.State.PAUSED
    (row,) = watch_campaigns([campaign], timezone.now())
    assert row.expected_end is None
    # a worker who sent an answer in the last hour is active
    work(1, hours_ago=0.5)
    (row,) = watch_campaigns([campaign], timezone.now())
    assert (row.n_workers, row.n_active) == (3, 1)


@pytest.mark.every_engine
def test_a_long_campaign_is_told_by_the_day():
    campaign = make_campaign(4)
    work(1, hours_ago=200)
    work(1, hours_ago=1)
    (row,) = watch_campaigns([campaign], timezone.now())
    assert {(p.start.hour, p.start.minute) for p in row.periods} == {(0, 0)}


def test_test_questions_are_counted_when_they_were_answered():
    campaign = make_campaign(3)
    done = work(3, hours_ago=2)
    for assignment, correct in zip(done, [True, False, True], strict=True):
        test_question = TestQuestion.objects.create(
            campaign=campaign, item=assignment.hit.items.get(), polarity="NEGATIVE"
        )
        Grade.objects.create(
            test_question=test_question, assignment=assignment, worker=assignment.worker,
            pool_id=campaign.pool_id, criterion="overall", polarity="NEGATIVE", correct=correct,
        )  # fmt: skip
    (row,) = watch_campaigns([campaign], timezone.now())
    assert (row.n_tests, row.n_right) == (3, 2)


@pytest.mark.every_engine
def test_many_campaigns_cost_as_many_queries_as_one(django_assert_num_queries):
    for _ in range(3):
        make_campaign(2)
        work(2, hours_ago=1)
    rows = list(Campaign.objects.select_related("hit_type"))
    with django_assert_num_queries(10):
        watch_campaigns(rows, timezone.now())
    with django_assert_num_queries(10):
        watch_campaigns(rows[:1], timezone.now())


def test_the_page_of_a_task_shows_all_of_its_campaigns(boss, task):
    running = make_campaign(3, title="Kite & Co on weather")
    work(1, hours_ago=5)
    work(1, hours_ago=1)
    over = make_campaign(1, title="Long ago")
    Campaign.objects.filter(pk=over.pk).update(state=Campaign.State.STOPPED)
    Campaign.objects.filter(pk=running.pk).update(notice="Nobody comes.")
    text = boss.get(reverse("admin:leaderboard_task_campaigns", args=[task.pk])).text
    assert "Kite &amp; Co on weather" in text
    assert "2 of 3" in text
    assert "Nobody comes." in text
    assert text.index("Kite &amp; Co on weather") < text.index("Long ago")
    own = boss.get(reverse("admin:crowd_campaign_change", args=[running.pk])).text
    assert "Expected end at this pace" in own
    assert "Pause</button>" in own
    assert '<polyline class="spent"' in own
