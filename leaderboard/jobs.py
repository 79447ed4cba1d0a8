"""The steps of a submission's walk as jobs: thin, keys in, safe to run twice."""

from __future__ import annotations

from leaderboard.models import Task
from leaderboard.services import advance as advancing
from leaderboard.services import announce as announcing
from leaderboard.services import (
    compare_waves,
    evaluate,
    joint_run,
    metric_board,
    metric_pieces,
    metric_runs,
    notices,
    webhooks,
)
from leaderboard.services import measure as measuring
from leaderboard.services import publish as publishing
from leaderboard.services import score as scoring
from leaderboard.services import top_up as topping_up
from leaderboard.services import validate as validating
from leaderboard.services.steps import attempt


def validate(pk: int) -> None:
    attempt("validate", validating.check, pk)


def measure(pk: int) -> None:
    attempt("measure", measuring.run, pk)


def launch(pk: int) -> None:
    attempt("launch", evaluate.launch, pk)


def collect(pk: int) -> None:
    attempt("collect", evaluate.collect, pk)


def score(pk: int) -> None:
    attempt("score", scoring.compute, pk)


def publish(pk: int) -> None:
    attempt("publish", publishing.publish, pk)


def rescore(pk: int) -> None:
    scoring.rescore(pk)
    topping_up.reopen(pk)


def top_up(pk: int) -> None:
    topping_up.finish(pk)


def compare(pk: int) -> None:
    compare_waves.step(pk)


def judge_together(pk: int) -> None:
    joint_run.step(pk)


def measure_piece(pk: int) -> None:
    metric_pieces.compute(pk)


def catch_up_metrics(task: int = 0) -> None:
    if not task:
        metric_runs.catch_up_all()
    # a task can be deleted while its job waits
    elif chosen := Task.objects.filter(pk=task).first():
        metric_runs.catch_up(chosen)


def refresh_metric_boards() -> None:
    metric_board.refresh_all()


def compute_metric_board(pk: int) -> None:
    metric_board.compute(pk)


def advance() -> None:
    advancing.advance()


def announce() -> None:
    announcing.announce()


def send_notice(pk: int) -> None:
    notices.send(pk)


def deliver(pk: int) -> None:
    webhooks.deliver(pk)
