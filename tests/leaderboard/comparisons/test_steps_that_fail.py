"""A step that fails is seen by whoever asked and by staff, ends, and can be tried again."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client

from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.models import Comparison, JointEvaluation
from leaderboard.services import compare, compare_waves, joint, joint_run
from leaderboard.services.advance import advance
from tests.leaderboard.comparisons.conftest import settle

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    pass


@pytest.fixture(params=["comparison", "joint"])
def walk(request, right, wrong, boss):
    """Give one that is approved and not begun: its model, key, step and service."""
    if request.param == "comparison":
        found = compare.request(right, wrong, compare.Question("overall"), by=boss)
        compare.approve(found.pk, by=boss)
        return Comparison, found.pk, compare_waves, compare
    found = joint.request([right, wrong], by=boss, n_instances=6)
    joint.approve(found.pk, by=boss)
    return JointEvaluation, found.pk, joint_run, joint


def broken(error):
    def raise_it(*_, **__):
        raise error

    return raise_it


def test_what_nobody_foresaw_is_tried_three_times_and_then_waits_for_staff(
    walk, monkeypatch, boss
):
    model, pk, running, service = walk
    with monkeypatch.context() as patch:
        patch.setattr(running.run, "start_due", broken(OSError(28, "No space left")))
        for n in (1, 2, 3):
            running.step(pk)
            found = model.objects.get(pk=pk)
            assert "OSError: No space left" in found.failure
            assert found.failure_permanent == (n == 3)
            assert found.state == "APPROVED"
        running.step(pk)
        assert model.objects.get(pk=pk).n_attempts == 3
    jobs.drain()
    assert model.objects.get(pk=pk).state == "APPROVED"
    assert advance() == 0
    service.retry(pk, by=boss)
    jobs.drain()
    found = model.objects.get(pk=pk)
    assert (found.state, found.failure, found.failure_permanent) == (
        "RUNNING",
        "",
        False,
    )
    assert found.n_attempts == 0
    with pytest.raises(GenieError, match="did not fail"):
        service.retry(pk, by=boss)


def test_a_reason_that_will_not_go_away_is_not_tried_again(walk, monkeypatch):
    model, pk, running, _ = walk
    calls = []

    def refuse(*_, **__):
        calls.append(1)
        raise GenieError("No reference is left.", code="no-references")

    monkeypatch.setattr(running, "build_campaign", refuse)
    for _ in range(3):
        settle()
    found = model.objects.get(pk=pk)
    assert (found.failure, found.failure_permanent) == ("No reference is left.", True)
    assert len(calls) == 1


def test_a_step_that_is_killed_each_time_does_not_loop_for_ever(walk, monkeypatch):
    model, pk, running, _ = walk
    monkeypatch.setattr(running, "build_campaign", broken(Killed()))
    for _ in range(6):
        with pytest.raises(Killed):
            running.step(pk)
    running.step(pk)
    found = model.objects.get(pk=pk)
    assert found.failure_permanent
    assert "cut off 6 times" in found.failure


def test_staff_see_it_first_of_all_and_try_again_from_the_list(walk, monkeypatch, boss):
    model, pk, running, _ = walk
    with monkeypatch.context() as patch:
        patch.setattr(running, "build_campaign", broken(GenieError("It <b>broke</b>.")))
        running.step(pk)
    client = Client()
    client.force_login(boss)
    name = model._meta.model_name
    front = client.get("/admin/").content.decode()
    assert "with a failed step: 1" in front
    assert "It &lt;b&gt;broke" in front
    address = f"/admin/leaderboard/{name}/"
    assert "It &lt;b&gt;broke" in client.get(f"{address}?failed=yes").content.decode()
    asked = {"action": "retry_selected", "_selected_action": [pk]}
    client.post(address, asked)
    client.post(address, {**asked, "confirmed": "yes", "reason": ""})
    jobs.drain()
    assert model.objects.get(pk=pk).state == "RUNNING"


def test_one_that_failed_can_still_be_stopped(walk, monkeypatch, boss):
    model, pk, running, service = walk
    monkeypatch.setattr(running, "build_campaign", broken(GenieError("Broken.")))
    running.step(pk)
    service.stop(pk, by=boss, reason="Never mind.")
    found = model.objects.get(pk=pk)
    assert (found.state, found.failure) == ("STOPPED", "")


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_a_lock_while_labels_are_judged(
    right, wrong, ask, crowd, monkeypatch
):
    found = ask(right, wrong, max_pairs=30)
    crowd.work()
    held = []

    def seeing(name, real):
        def seen(*args, **kwargs):
            held.append((name, connection.in_atomic_block))
            return real(*args, **kwargs)

        return seen

    judging = compare_waves.judge
    monkeypatch.setattr(judging, "judge", seeing("judge", judging.judge))
    monkeypatch.setattr(compare_waves, "decide", seeing("decide", compare_waves.decide))
    compare_waves.step(found.pk)
    assert held == [("judge", False), ("decide", False)]
    found.refresh_from_db()
    assert found.is_over or found.n_waves == 2


def test_an_answer_that_comes_between_the_look_and_the_lock_waits_for_the_next_look(
    right, wrong, ask, crowd, monkeypatch, boss, task
):
    found = ask(right, wrong, max_pairs=30)
    crowd.work()
    real = compare_waves.decide

    def decide_and_ban(*args):
        from quality.services import ban

        ban.ban(crowd.players[0].worker, task.slug, by=boss, reason="No reading.")
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(compare_waves, "decide", decide_and_ban)
        compare_waves.step(found.pk)
    found.refresh_from_db()
    assert (found.state, found.n_waves) == ("RUNNING", 1)
