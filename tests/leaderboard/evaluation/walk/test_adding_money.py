"""Careless workers use the reserve up; staff add money, and all is judged after all."""

import pytest

from crowd.campaigns.services.add_money import add_money
from crowd.models import Campaign, Commitment, LedgerEntry
from genie.lib import jobs
from leaderboard.demo import people
from leaderboard.evaluation import decide
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.models import Score, SubmissionEvent
from quality.bans.services import ban as banning
from tests.leaderboard.evaluation.days import a_day_later
from tests.leaderboard.evaluation.steps import settle


def spent():
    rows = LedgerEntry.objects.exclude(state__in=["CANCELLED", "FAILED"])
    return sum(rows.values_list("amount_cents", flat=True))


@pytest.fixture
def players(task):
    return [p for p in people.players([task.slug]) if p.habit == DILIGENT]


@pytest.fixture
def published(task, hand_in, good, boss, players, quality):
    """Give a submission without a reserve, of which one worker answered much."""
    human = {**task.config["human"], "repost_share": 0.0}
    task.config = {**task.config, "human": human}
    task.save()
    submission = hand_in(good, simulated=True)
    jobs.drain()
    decide.approve(submission, by=boss, start_now=True)
    settle()
    crowd = Crowd(players, quality=quality, seed=1)
    for _ in range(12):
        crowd.do_hit(players[0])
    crowd.work()
    settle()
    submission.refresh_from_db()
    assert submission.state == "PUBLISHED"
    return submission


def test_a_published_submission_asks_again_once_there_is_money_and_is_scored_once_more(
    published, players, quality, boss, task
):
    banning.ban(players[0].worker, task.slug, by=boss, reason="Careless.")
    settle()
    campaign = Campaign.objects.get()
    few = Score.objects.get(superseded_at=None).n
    assert few < 30
    n_lost = players[0].worker.assignments.count()
    money = n_lost * campaign.hit_type.reward_cents
    add_money(
        campaign.pk,
        money,
        budget_cents=campaign.budget_cents,
        by=boss,
        reason="Careless workers.",
    )
    settle()
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.RUNNING
    assert Crowd(players[1:], quality=quality, seed=2).work() == n_lost
    settle()
    a_day_later()
    settle()
    assert Score.objects.get(superseded_at=None).n == 30
    account = Commitment.objects.get()
    assert account.amount_cents == spent() == campaign.budget_cents
    assert account.settled_at is not None
    n = SubmissionEvent.objects.count()
    settle()
    assert SubmissionEvent.objects.count() == n
