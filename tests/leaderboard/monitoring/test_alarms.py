"""Money and crowds that go wrong are told of once, with the page that solves it."""

from datetime import timedelta

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.models import Assignment, Budget, Campaign, Commitment, LedgerEntry, Rating
from genie.lib import jobs
from genie.schedules import SCHEDULES
from genie.upkeep import alerts
from leaderboard.monitoring import alarms
from quality.models import Ban, Grade, TestQuestion
from tests import factories
from tests.crowd.making import POOL, do_one, make_campaign, make_pools, make_worker
from tests.factories import make_user


@pytest.fixture
def boss():
    return make_user("boss", is_staff=True, is_superuser=True)


def test_a_low_budget_is_told_and_where_to_raise_it(boss, client):
    make_pools(POOL)
    budget = Budget.objects.create(pool_id=POOL, limit_cents=10_000)
    Commitment.objects.create(key="a", pool_id=POOL, amount_cents=9_000, approved_by=boss)  # fmt: skip
    assert alarms.budgets().verdict == "ok"
    Commitment.objects.create(key="b", pool_id=POOL, amount_cents=100, approved_by=boss)
    [sentence] = alarms.budgets().points.values()
    assert "$9.00 of $100.00 is left. Raise the limit" in sentence
    client.force_login(boss)
    address = sentence.rpartition(" ")[2]
    assert address.endswith(f"/{budget.pk}/change/")
    assert client.get(address.partition("8000")[2]).status_code == 200
    Budget.objects.create(pool=None, limit_cents=9_200)
    assert len(alarms.budgets().points) == 2


def test_spending_beyond_the_plan_is_told():
    campaign = make_campaign(4)
    do_one(make_worker())
    Campaign.own.update(budget_cents=40)
    assert alarms.budgets().verdict == "ok"
    LedgerEntry.own.update(amount_cents=5_000)
    [sentence] = alarms.budgets().points.values()
    assert "has spent $50.00, but $0.10 was planned" in sentence
    assert sentence.endswith(f"/admin/crowd/campaign/{campaign.pk}/change/")


def graded(campaign, right, wrong, ago):
    """Let so many test questions be answered right and wrong, so long ago."""
    item = campaign.items.first()
    place, _ = TestQuestion.objects.get_or_create(
        campaign=campaign, item=item, defaults={"polarity": "NEGATIVE"}
    )
    for n in range(right + wrong):
        done = Assignment.objects.create(
            hit=item.hit, worker=factories.make_worker(), state="SUBMITTED", reward_cents=1,
            accepted_at=timezone.now(), deadline_at=timezone.now(),
            submitted_at=timezone.now() - ago,
        )  # fmt: skip
        Grade.objects.create(
            test_question=place, assignment=done, worker=done.worker, pool_id=POOL,
            criterion="overall", polarity="NEGATIVE", correct=n < right,
        )  # fmt: skip


def test_test_questions_that_are_answered_worse_are_told_chance_is_not():
    campaign = make_campaign(1)
    graded(campaign, 28, 2, timedelta(days=3))
    graded(campaign, 7, 3, timedelta(hours=1))
    assert alarms.crowds().verdict == "ok"
    graded(campaign, 3, 17, timedelta(hours=1))
    [sentence] = alarms.crowds().points.values()
    assert "10 of 30 test questions were answered right in the last day" in sentence
    assert "28 of 30 before. Check the workers" in sentence
    Campaign.own.update(state=Campaign.State.COMPLETE)
    assert alarms.crowds().verdict == "ok"


def test_agreement_that_falls_is_told():
    make_campaign(24, max_assignments=2)
    for worker in (make_worker(), make_worker()):
        while do_one(worker):
            pass
    answers = list(Rating.own.order_by("item", "pk"))
    start = timezone.now() - timedelta(hours=20)
    for n, answer in enumerate(answers):
        answer.value = (n // 2 % 5) / 4  # both the same
        at = start + timedelta(minutes=10 * n)
        Assignment.objects.filter(pk=answer.assignment_id).update(submitted_at=at)
    Rating.objects.bulk_update(answers, ["value"])
    assert alarms.crowds().verdict == "ok"
    for n, answer in enumerate(answers[24:]):
        answer.value = (n * 7 % 5) / 4  # as it comes
    Rating.objects.bulk_update(answers, ["value"])
    [sentence] = alarms.crowds().points.values()
    assert "fell from 1.00 to " in sentence


def test_many_exclusions_at_once_are_told():
    make_campaign(1)
    for _ in range(4):
        Ban.objects.create(worker=factories.make_worker(), pool_id=POOL, reason="Noisy")
    assert alarms.crowds().verdict == "ok"
    Ban.objects.create(worker=factories.make_worker(), pool_id=POOL, reason="careless")
    [sentence] = alarms.crowds().points.values()
    assert f"{POOL}: 5 workers were excluded within a day" in sentence
    Ban.own.update(created_at=timezone.now() - timedelta(days=2))
    assert alarms.crowds().verdict == "ok"


def test_a_notice_whose_number_grows_is_the_same_point():
    campaign = make_campaign(4)
    points = set()
    for n in (3, 12):
        said = f"{n} answers that do not count were not replaced."
        Campaign.objects.filter(pk=campaign.pk).update(notice=said)
        found = alarms.campaigns().points
        assert said in " ".join(found.values())
        points |= set(found)
    assert len(points) == 1


def test_each_notice_is_mailed_once_and_the_page_shows_all(settings, boss):
    cache.clear()
    jobs.install(SCHEDULES)
    settings.GENIE = {**settings.GENIE, "ALERTS": ["ops@example.org"]}
    first, second = make_campaign(1), make_campaign(1)
    Campaign.objects.filter(pk=first.pk).update(
        notice=run.UNDERPAID, title="<b>One\nline</b>"
    )
    alerts.look()
    alerts.look()
    Campaign.objects.filter(pk=second.pk).update(notice=run.TOO_FAST)
    alerts.look()
    Campaign.objects.filter(pk=first.pk).update(notice="")
    alerts.look()  # one of two is over: nothing to do
    Campaign.own.update(notice="")
    alerts.look()
    bodies = [one.body for one in mail.outbox]
    assert len(bodies) == 3
    assert "- “<b>One\\nline</b>” " in bodies[0]
    assert run.UNDERPAID in bodies[0]
    assert f"/admin/crowd/campaign/{first.pk}/change/" in bodies[0]
    assert run.UNDERPAID not in bodies[1]
    assert run.TOO_FAST in bodies[1]
    assert "over: campaigns" in bodies[2]
    Campaign.objects.filter(pk=first.pk).update(notice=run.UNDERPAID)
    client = Client()
    client.force_login(boss)
    page = client.get("/admin/status/").content.decode()
    assert "&lt;b&gt;One" in page
    assert "top up the pay" in page
