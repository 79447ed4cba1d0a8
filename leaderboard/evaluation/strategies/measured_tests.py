"""Test questions of evaluations that await approval: drawn and measured beforehand.

Measuring trains classifiers, so a job does it (`jobs.measure_tests`). Pages and
approvals only read its result and check that it is still valid.
"""

from collections.abc import Collection
from itertools import chain

from django.conf import settings
from django.db import transaction

from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.runner import CLEARED, Runner
from leaderboard.evaluation import machine
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services.hidden import drawn
from leaderboard.evaluation.services.hidden import drawn as gate
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.submissions.selectors import is_withdrawn
from leaderboard.tasks.services.configuration import ask_platform

State = HumanEvaluation.State
WAITING = (State.REQUESTED, State.DECLINED)
RUNNER = Runner(HumanEvaluation, "leaderboard.jobs.measure_tests", states=WAITING)
# This many measured ones are checked each minute: more wait only in long queues.
N_CHECKED = 20
UNMEASURED = (
    "The test questions have not been measured yet, or have changed since. They are "
    "measured in the background; try again in a minute."
)


def is_measured(evaluation: HumanEvaluation, used: Collection[str] = ()) -> bool:
    """Check, without drawing, that the questions were measured as asked now."""
    if not settings.GENIE["TEST_QUESTIONS_CHECKED"]:
        return True
    strategy = strategy_of(evaluation)
    keys = strategy.keys(evaluation)
    return drawn.is_kept(evaluation, strategy.human(evaluation), keys, used)


def measure_tests(evaluation: HumanEvaluation, used: Collection[str] = ()) -> None:
    """Draw and measure the test questions unless that is done; store both.

    Computes for seconds before it takes a lock, so it refuses to run in a transaction.
    """
    if evaluation.state not in WAITING or is_measured(evaluation, used):
        return
    strategy = strategy_of(evaluation)
    strategy.check_launch(evaluation)
    parts = strategy.plan(evaluation, used)
    check = gate.measure_tests(evaluation, strategy.human(evaluation), parts)
    with transaction.atomic(durable=True):
        # A decision made meanwhile keeps the questions that staff saw.
        now = machine.lock(evaluation.pk)
        if (now.state, now.alone) == (evaluation.state, evaluation.alone):
            gate.keep_check(evaluation, check, strategy.human(evaluation), parts)


def prepare(*evaluations: HumanEvaluation) -> None:
    """Check that the platform can run them, before the approving transaction.

    Measures nothing, because requests call it. Raises GenieError ``tests-not-measured``
    if a job has yet to measure, and queues the job.
    """
    for evaluation in _waiting_rows(evaluations):
        ask_platform(strategy_of(evaluation).human(evaluation), evaluation.task.slug)
        if not (evaluation.simulated or is_measured(evaluation)):
            # also after a permanent failure
            HumanEvaluation.objects.filter(pk=evaluation.pk).update(**CLEARED)
            jobs.enqueue_missing([(RUNNER.job, {"pk": evaluation.pk})])
            raise GenieError(UNMEASURED, code="tests-not-measured")


def measure_together(*evaluations: HumanEvaluation) -> None:
    """Measure tests for seconds each; no text is drawn for two evaluations."""
    used: set[str] = set()
    for evaluation in _waiting_rows(evaluations):
        measure_tests(evaluation, used)
        texts = evaluation.drawn_tests.values_list("texts", flat=True)
        used.update(chain.from_iterable(texts))


def _waiting_rows(evaluations: Collection[HumanEvaluation]) -> list[HumanEvaluation]:
    found = (machine.read(evaluation.pk) for evaluation in evaluations)
    return [row for row in found if row is not None and row.state in WAITING]


def due() -> list[int]:
    if not settings.GENIE["TEST_QUESTIONS_CHECKED"]:
        return []
    waiting = machine.rows().filter(state=State.REQUESTED, failure_permanent=False)
    waiting = waiting.exclude(is_withdrawn("submissions__"))
    unmeasured = waiting.filter(drawn_tests=None).order_by("pk")
    measured = waiting.exclude(drawn_tests=None).order_by("?")[:N_CHECKED]
    changed = [row.pk for row in measured if not is_measured(row.specific)]
    return [*unmeasured.values_list("pk", flat=True), *changed]
