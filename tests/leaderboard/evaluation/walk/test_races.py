"""The same step by two processes at once, and two people at the same moment."""

import threading

import pytest
from django.db import connection

from crowd.models import Campaign, Commitment
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard import demo
from leaderboard import jobs as steps
from leaderboard.evaluation import decide
from leaderboard.evaluation.rescoring import FINAL
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.metrics.base import all_metrics
from leaderboard.models import MetricResult, Prediction, Score, SubmissionEvent
from quality.models import DetectorFit, Grade, TestQuestion

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(work, n: int = 2) -> list[object]:
    """Call `work` in `n` threads that start together; give results or errors."""
    barrier = threading.Barrier(n)
    results: list[object] = []

    def run() -> None:
        barrier.wait()
        try:
            results.append(work())
        except GenieError as error:
            results.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == n
    return results


def states(submission) -> list[str]:
    rows = SubmissionEvent.objects.filter(submission=submission)
    return list(rows.values_list("state", flat=True))


@pytest.mark.every_engine
def test_every_step_done_twice_at_once_counts_once(hand_in, good, boss, task, quality):
    submission = hand_in(good, simulated=True)
    at_once(lambda: steps.validate(submission.pk))
    assert Prediction.own.count() == 40
    at_once(lambda: steps.measure(submission.pk))
    # heavy metrics follow in the background
    light = [
        m for m in task.config["metrics"]["use"] if all_metrics()[m].cost == "light"
    ]
    assert MetricResult.own.count() == len(light)
    evaluation = decide.approve(submission, by=boss, start_now=True).evaluation
    at_once(lambda: steps.step_evaluation(evaluation.pk))
    assert Campaign.own.count() == 1
    assert TestQuestion.own.count() == 6
    players = [p for p in demo.players([task.slug]) if p.habit == DILIGENT]
    Crowd(players, quality=quality, seed=1).work()
    at_once(lambda: steps.step_evaluation(evaluation.pk))
    assert Grade.own.count() == 6
    assert DetectorFit.own.count() == 1
    at_once(lambda: steps.step_evaluation(evaluation.pk))
    assert Score.own.count() == 1
    at_once(lambda: steps.step_evaluation(evaluation.pk))
    submission.refresh_from_db()
    assert (submission.work.failure, submission.n_attempts) == ("", 0)
    # the slower one may find it published and say that nothing is open any more
    SubmissionEvent.objects.filter(submission=submission, sentence=FINAL).delete()
    assert states(submission) == [
        "RECEIVED", "VALID", "MEASURED", "APPROVED",
        "ANNOTATING", "ANNOTATED", "SCORED", "PUBLISHED",
    ]  # fmt: skip


@pytest.mark.every_engine
def test_two_staff_who_approve_at_the_same_moment_approve_once(hand_in, good, boss):
    submission = hand_in(good)
    jobs.drain()
    results = at_once(lambda: decide.approve(submission, by=boss))
    refused = [r for r in results if isinstance(r, GenieError)]
    assert len(refused) == 1
    assert Commitment.own.count() == 1
    assert states(submission).count("APPROVED") == 1


@pytest.mark.every_engine
def test_a_team_that_hands_in_twice_at_once_does_not_pass_its_quota(hand_in, good):
    hand_in(good, name="One")
    hand_in(good, name="Two")
    results = at_once(lambda: hand_in(good, name="Three"), n=3)
    refused = [r for r in results if isinstance(r, GenieError)]
    assert [error.code for error in refused] == ["quota-reached"] * 2


@pytest.mark.every_engine
def test_two_queues_share_the_work_without_doing_it_twice(hand_in, good):
    for number in range(3):
        hand_in(good, name=f"System {number}")
    at_once(jobs.drain)
    advance()
    jobs.drain()
    assert Prediction.own.count() == 120
    assert MetricResult.own.values("submission", "metric").distinct().count() == (
        MetricResult.own.count()
    )


@pytest.mark.every_engine
def test_restoring_twice_at_once_brings_it_back_once(hand_in, good, boss):
    submission = hand_in(good, simulated=True)
    jobs.drain()
    decide.approve(submission, by=boss)
    nina = submission.owner
    decide.withdraw(submission, by=nina, reason="")
    results = at_once(lambda: decide.restore(submission, by=nina))
    assert sum(isinstance(result, GenieError) for result in results) == 1
    assert states(submission)[-2:] == ["WITHDRAWN", "MEASURED"]
    assert Commitment.own.get().amount_cents == 0
