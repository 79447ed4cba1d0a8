"""Jobs: thin, keys in, safe to run twice."""

from __future__ import annotations

from functools import partial

from leaderboard.evaluation import run
from leaderboard.models import HumanEvaluation, Submission, Task
from leaderboard.services import announce as announcing
from leaderboard.services import measure as measuring
from leaderboard.services import (
    metric_board,
    metric_pieces,
    metric_runs,
    notices,
    webhooks,
)
from leaderboard.services import validate as validating
from leaderboard.services.attempts import Attempt


def validate(pk: int) -> None:
    here = Attempt(Submission, pk, Submission.State.RECEIVED, "validate")
    here.run(partial(validating.check, pk))


def measure(pk: int) -> None:
    here = Attempt(Submission, pk, Submission.State.VALID, "measure")
    here.run(partial(measuring.run, pk))


def step_evaluation(pk: int) -> None:
    run.step(pk)


# What an older version has queued under these names, each with its owner's key, is still
# done. They can go in the release after the next one.
def launch(pk: int) -> None:
    _step_of(submission=pk)


collect = score = publish = rescore = top_up = launch


def compare(pk: int) -> None:
    _step_of(comparison=pk)


def judge_together(pk: int) -> None:
    _step_of(joint=pk)


def _step_of(**owner: int) -> None:
    for pk in HumanEvaluation.objects.filter(**owner).values_list("pk", flat=True):
        run.step(pk)


def measure_piece(pk: int) -> None:
    metric_pieces.compute(pk)


def catch_up_metrics(task: int = 0) -> None:
    if not task:
        metric_runs.catch_up_all()
    elif found := Task.objects.filter(pk=task).first():
        metric_runs.catch_up(found)


def refresh_metric_boards() -> None:
    metric_board.refresh_all()


def compute_metric_board(pk: int) -> None:
    metric_board.compute(pk)


def advance() -> None:
    run.advance()


def announce() -> None:
    announcing.announce()


def send_notice(pk: int) -> None:
    notices.send(pk)


def deliver(pk: int) -> None:
    webhooks.deliver(pk)
