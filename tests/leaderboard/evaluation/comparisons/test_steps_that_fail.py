"""A step that fails is seen by whoever asked and by staff, ends, and can be tried again."""

import pytest
from django.db import connection

from crowd.campaigns.services import run as campaign_run
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.evaluation import campaigns, decide, run
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services import joint
from leaderboard.evaluation.strategies import comparison


@pytest.fixture(params=["comparison", "joint"])
def walk(request, right, wrong, boss):
    if request.param == "comparison":
        found = compare.request(right, wrong, compare.Question("overall"), by=boss)
    else:
        found = joint.request([right, wrong], by=boss, n_instances=6)
    decide.approve(found, by=boss)
    return found


def now(walk):
    return type(walk).objects.get(pk=walk.pk)


def broken(error):
    def raise_it(*_, **__):
        raise error

    return raise_it


def test_what_nobody_foresaw_is_tried_three_times_then_waits(walk, monkeypatch, boss):
    with monkeypatch.context() as patch:
        patch.setattr(campaign_run, "start_due", broken(OSError(28, "No space left")))
        for n in (1, 2, 3):
            run.step(walk.pk)
            found = now(walk)
            assert "OSError: No space left" in found.failure
            assert found.failure_permanent == (n == 3)
            assert found.state == "APPROVED"
        run.step(walk.pk)
        assert now(walk).n_attempts == 3
    jobs.drain()
    assert now(walk).state == "APPROVED"
    assert advance() == 0
    decide.retry(walk, by=boss)
    jobs.drain()
    found = now(walk)
    told = found.state, found.failure, found.failure_permanent, found.n_attempts
    assert told == ("ANNOTATING", "", False, 0)
    with pytest.raises(GenieError, match="did not fail"):
        decide.retry(walk, by=boss)


def test_one_that_failed_can_still_be_stopped(walk, monkeypatch, boss):
    monkeypatch.setattr(campaigns, "build_campaign", broken(GenieError("Broken.")))
    run.step(walk.pk)
    decide.stop(walk, by=boss, reason="Never mind.")
    found = now(walk)
    assert (found.state, found.failure) == ("STOPPED", "")


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_locks_while_judging(right, wrong, ask, crowd, monkeypatch):
    found = ask(right, wrong, max_pairs=30)
    crowd.work()
    held = []

    def seeing(name, real):
        def seen(*args, **kwargs):
            held.append((name, connection.in_atomic_block))
            return real(*args, **kwargs)

        return seen

    judging = campaigns.judge
    monkeypatch.setattr(judging, "judge", seeing("judge", judging.judge))
    monkeypatch.setattr(comparison, "decide", seeing("decide", comparison.decide))
    run.step(found.pk)
    assert set(held) == {("judge", False), ("decide", False)}
    found.refresh_from_db()
    assert found.is_over or found.n_waves == 2


@pytest.mark.every_engine
def test_an_answer_that_comes_between_the_look_and_the_lock_waits_for_the_next_look(
    right, wrong, ask, crowd, monkeypatch, boss, task
):
    found = ask(right, wrong, max_pairs=30)
    crowd.work()
    real = comparison.decide

    def decide_and_ban(*args):
        from quality.bans import services

        services.ban(crowd.players[0].worker, task.slug, by=boss, reason="No reading.")
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(comparison, "decide", decide_and_ban)
        run.step(found.pk)
    found.refresh_from_db()
    assert (found.state, found.n_waves) == ("ANNOTATING", 1)
