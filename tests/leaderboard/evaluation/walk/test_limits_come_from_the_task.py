"""A campaign's limit per worker is what its task says."""

import pytest

from crowd.models import Campaign
from leaderboard import demo
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from tests.leaderboard.evaluation.steps import ask, launch, now, settle


@pytest.fixture
def launched(hand_in, good, boss):
    return lambda: launch(hand_in(good, simulated=True), boss)


def limit():
    return Campaign.own.values_list(
        "worker_share", "share_follows_crowd", "hits_per_worker"
    ).get()


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({}, (0.2, True, 4)),  # nine players: 2 / 9 of 18 HITs
        ({"workers": 60}, (0.2, False, 4)),
        ({"workers": 8}, (0.25, False, 5)),
        ({"worker_percent": 50}, (0.5, False, 9)),
        ({"worker_percent": 100}, (None, False, None)),
    ],
)
def test_the_limit_is_the_tasks(task, launched, said, found):
    demo.players([task.slug])
    ask(task, **said)
    launched()
    assert limit() == found


@pytest.mark.every_engine
def test_the_limit_follows_the_crowd_while_it_runs(task, launched):
    launched()
    assert limit() == (0.2, True, None)
    demo.players([task.slug])
    settle()
    assert limit() == (0.2, True, 4)


def test_three_workers_reach_the_board_by_default(task, launched, quality):
    players = demo.players([task.slug])
    three = [player for player in players if player.habit == DILIGENT][:3]
    for player in players:
        if player not in three:
            player.worker.excluded = True
            player.worker.save()
    submission = launched()
    assert limit()[2] == 12
    Crowd(three, quality=quality, seed=1).work()
    settle()
    assert now(submission).state == "PUBLISHED"
    done = Campaign.own.get().hits.values_list("assignments__worker", flat=True)
    assert max(list(done).count(p.worker.pk) for p in three) <= 12
