"""A campaign's limit per worker is what its task says."""

import pytest

from crowd.models import Campaign
from leaderboard import demo
from tests.leaderboard.evaluation.steps import launch, settle


@pytest.fixture
def launched(hand_in, good, boss):
    return lambda: launch(hand_in(good, simulated=True), boss)


def limit():
    return Campaign.own.values_list(
        "worker_share", "share_follows_crowd", "hits_per_worker"
    ).get()


@pytest.mark.every_engine
def test_the_limit_follows_the_crowd_while_it_runs(task, launched):
    launched()
    assert limit() == (0.2, True, None)
    demo.players([task.slug])
    settle()
    assert limit() == (0.2, True, 4)
