"""How the steps of joint evaluations run: without locks while they compute, and again."""

import pytest
from django.db import connection

from crowd.models import Campaign
from genie.lib.seeds import seed_from
from leaderboard.evaluation import decide, run
from leaderboard.evaluation.services import joint
from leaderboard.evaluation.strategies import joint as side_by_side
from leaderboard.models import JointEvaluation
from tests.kept import kept
from tests.leaderboard.evaluation.steps import send_out, settle


@pytest.fixture
def answered(right, wrong, boss, crowd):
    def make():
        found = send_out(joint.request([right, wrong], by=boss, n_instances=6), boss)
        crowd.work()
        # the last look at the answers: what follows is to be computed
        run.step(found.pk)
        return found

    found = kept("answered", make, right.task.config)
    assert JointEvaluation.objects.get().state == "ANNOTATED"
    return found


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_a_lock_while_results_are_computed(answered, monkeypatch):
    held = []
    real = side_by_side.results_of

    def computing(*args, **kwargs):
        held.append(connection.in_atomic_block)
        return real(*args, **kwargs)

    monkeypatch.setattr(side_by_side, "results_of", computing)
    run.step(answered.pk)
    assert held == [False]
    assert JointEvaluation.objects.get().state == "SCORED"


def test_after_a_process_that_died_another_ends_the_computation(answered, monkeypatch):
    class Killed(BaseException):
        pass

    def die(*_, **__):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(side_by_side, "results_of", die)
        with pytest.raises(Killed):
            run.step(answered.pk)
    assert Campaign.own.get().state == "COMPLETE"
    assert JointEvaluation.objects.get().state == "ANNOTATED"
    settle()
    assert JointEvaluation.objects.get().state == "SCORED"


def test_what_staff_stop_during_computing_stays_stopped(answered, boss, monkeypatch):
    real = side_by_side.results_of

    def stopping(*args, **kwargs):
        decide.stop(answered, by=boss, reason="Wrong systems.")
        return real(*args, **kwargs)

    monkeypatch.setattr(side_by_side, "results_of", stopping)
    run.step(answered.pk)
    found = JointEvaluation.objects.get()
    assert (found.state, found.results) == ("STOPPED", {})


def test_tests_cannot_be_recomputed_from_public_names(answered, right, wrong, ask):
    names = ("joint evaluation", answered.pk, right.pk, wrong.pk)
    assert JointEvaluation.objects.get().seed != seed_from(*names)
    found = ask(right, wrong)
    assert found.seed != seed_from(
        "comparison", found.pk, right.pk, wrong.pk, "overall"
    )
