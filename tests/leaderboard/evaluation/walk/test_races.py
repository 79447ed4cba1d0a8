"""The same step by two processes at once, and two people at the same moment."""

import pytest

from crowd.models import Commitment
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard import jobs as steps
from leaderboard.evaluation import decide
from leaderboard.metrics.base import all_metrics
from leaderboard.models import MetricResult, Prediction, SubmissionEvent
from tests.crowd.campaigns.test_races import at_once
from tests.factories import asked_about

pytestmark = pytest.mark.django_db(transaction=True)


def states(submission) -> list[str]:
    rows = SubmissionEvent.objects.filter(submission=submission)
    return list(rows.values_list("state", flat=True))


@pytest.mark.every_engine
def test_a_step_done_twice_at_once_counts_once(hand_in, good, task):
    submission = hand_in(good, simulated=True)
    at_once(*[lambda: steps.validate(submission.pk)] * 2)
    assert Prediction.own.count() == 40
    at_once(*[lambda: steps.measure(submission.pk)] * 2)
    # heavy metrics follow in the background
    light = [
        m for m in task.config["metrics"]["use"] if all_metrics()[m].cost == "light"
    ]
    assert MetricResult.own.count() == len(light)
    assert states(submission) == ["RECEIVED", "VALID", "MEASURED"]


@pytest.mark.every_engine
def test_a_team_that_hands_in_twice_at_once_does_not_pass_its_quota(hand_in, good):
    hand_in(good, name="One")
    hand_in(good, name="Two")
    results = at_once(*[lambda: hand_in(good, name="Three")] * 3)
    refused = [r for r in results if isinstance(r, GenieError)]
    assert [error.code for error in refused] == ["quota-reached"] * 2


@pytest.mark.every_engine
def test_restoring_twice_at_once_brings_it_back_once(hand_in, good, boss):
    submission = hand_in(good, simulated=True)
    jobs.drain()
    decide.approve(asked_about(submission), by=boss)
    nina = submission.owner
    decide.withdraw(submission, by=nina, reason="")
    results = at_once(*[lambda: decide.restore(submission, by=nina)] * 2)
    assert sum(isinstance(result, GenieError) for result in results) == 1
    assert states(submission)[-2:] == ["WITHDRAWN", "MEASURED"]
    assert Commitment.own.get().amount_cents == 0
