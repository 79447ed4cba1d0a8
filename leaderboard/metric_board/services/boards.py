"""Computation of metric boards, by a job, whenever their inputs have changed."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from genie.lib import jobs
from genie.lib.logs import one_line
from genie.lib.seeds import seed_from
from genie.lib.serving.unmoved import Stamp, is_unmoved, looked_in_vain, stamps
from leaderboard.designs.unit import Unit
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.campaigns import campaigns_of, launched
from leaderboard.evaluation.selectors.system_ratings import dated_ratings_of, unit_for
from leaderboard.metric_board.models.board import MetricBoard
from leaderboard.metric_board.models.outside import OutsideMetric, OutsideScores
from leaderboard.metric_board.selectors.inputs import (
    BOARD_VERSION,
    BoardInputs,
    BoardMetric,
    BoardSystem,
    board_inputs,
    criteria_of,
)
from leaderboard.metric_board.stats.snapshot import (
    FEWEST,
    BoardScores,
    EachRating,
    MetricScores,
    metric_board,
)
from leaderboard.metric_runs.models import MetricResult, MetricRun
from leaderboard.stats.resampling import Floats
from leaderboard.submissions.models.submission import Submission, SubmissionEvent
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

State = MetricBoard.State
JOB = "leaderboard.jobs.compute_metric_board"
MAX_ATTEMPTS = 3
# Number of snapshots kept per board, including the one shown.
KEPT = 5


def refresh_all() -> int:
    """Queue every board whose inputs have changed; return the number queued."""
    moved, wanted = _moved(), list[int]()
    for task in Task.objects.order_by("pk"):
        name = f"metric-boards-of-{task.pk}-{task.created_at.timestamp()}"
        stamp = (json.dumps(task.config, sort_keys=True), moved.get(task.pk))
        if is_unmoved(name, stamp):
            continue
        boards = [_demand(task, criterion) for criterion in criteria_of(task)]
        if due := [board.pk for board in boards if board is not None]:
            wanted += due
        else:
            looked_in_vain(name, stamp)
    return jobs.enqueue_missing((JOB, {"pk": pk}) for pk in wanted)


def _moved() -> dict[int, Stamp]:
    submission = "submission__task"
    partial = HumanEvaluation.objects.filter(ranks_partial=True)
    running = MetricRun.objects.filter(state=MetricRun.State.RUNNING)
    outside = OutsideMetric.objects.filter(withdrawn_at=None)
    return stamps(
        (Submission.objects.filter(public()), "task", "pk"),
        (SubmissionEvent.objects.all(), submission, "pk"),
        (Score.objects.filter(superseded_at=None), submission, "pk"),
        (partial, "task", "pk"),
        (MetricResult.objects.all(), submission, "pk"),
        (running, "task", "pk"),
        (outside.exclude(published_at=None), "task", "published_at"),
        (OutsideScores.objects.all(), "metric__task", "pk"),
        (MetricBoard.objects.all(), "task", "wanted_at"),
    )


def refresh(task: Task) -> int:
    """Queue one task's boards whose inputs have changed; return the number queued."""
    boards = [_demand(task, criterion) for criterion in criteria_of(task)]
    return jobs.enqueue_missing((JOB, {"pk": b.pk}) for b in boards if b is not None)


def _demand(task: Task, criterion: str) -> MetricBoard | None:
    inputs = board_inputs(task, criterion)
    boards = MetricBoard.objects.filter(task=task, criterion=criterion)
    newest = boards.order_by("-wanted_at", "-pk").first()
    digest = inputs.sha256()
    if newest is None and not inputs.systems:
        return None
    if newest is None or newest.inputs_sha256 != digest:
        few = len(inputs.systems) < FEWEST
        newest, _ = MetricBoard.objects.update_or_create(
            task=task,
            criterion=criterion,
            inputs_sha256=digest,
            defaults={"wanted_at": timezone.now()},
            create_defaults={
                "wanted_at": timezone.now(),
                "state": State.TOO_FEW if few else State.WAITING,
                "seed": seed_from("metric board", task.slug, criterion, digest),
                "code_version": f"{settings.VERSION}+{BOARD_VERSION}",
                "simulated": inputs.simulated,
                "n_systems": len(inputs.systems),
            },
        )
        _prune(task, criterion)
    return newest if newest.state == State.WAITING else None


def _prune(task: Task, criterion: str) -> None:
    boards = MetricBoard.objects.filter(task=task, criterion=criterion)
    newest = boards.order_by("-wanted_at", "-pk")
    # Keep the newest finished one, which the page shows, even if newer ones wait.
    ready = newest.filter(state=State.READY).values_list("pk", flat=True)[:1]
    kept = {*newest.values_list("pk", flat=True)[:KEPT], *ready}
    boards.exclude(pk__in=kept).delete()


def compute(pk: int) -> None:
    """Compute a waiting board; all computing is done before the single write."""
    waiting = MetricBoard.objects.filter(pk=pk, state=State.WAITING)
    board = waiting.select_related("task").first()
    if board is None:
        return
    if board.n_attempts >= MAX_ATTEMPTS:
        sentence = (
            board.failure
            or "The computation did not finish: not enough memory or time."
        )
        waiting.update(state=State.FAILED, failure=sentence)
        return
    inputs = board_inputs(board.task, board.criterion)
    if inputs.sha256() != board.inputs_sha256:
        return  # inputs changed meanwhile; the next refresh queues the new board
    # Counted first, so that a computation that kills its process counts, too.
    waiting.update(n_attempts=F("n_attempts") + 1)
    start = time.monotonic()
    try:
        payload = payload_of(board.task, inputs, seed=board.seed)
    except Exception as error:
        logger.exception("Metric board %s failed", board.pk)
        failure = f"{type(error).__name__}: {one_line(error, 300)}"
        waiting.update(failure=failure)
        return
    with transaction.atomic():
        waiting.update(
            state=State.READY,
            payload=payload,
            failure="",
            seconds=round(time.monotonic() - start, 3),
            computed_at=timezone.now(),
        )


def retry(board: MetricBoard) -> bool:
    failed = MetricBoard.objects.filter(pk=board.pk, state=State.FAILED)
    with transaction.atomic():
        again = failed.update(state=State.WAITING, n_attempts=0, failure="")
        if again:
            jobs.enqueue(JOB, pk=board.pk)
    return bool(again)


def payload_of(task: Task, inputs: BoardInputs, *, seed: int) -> dict[str, Any]:
    human, each = _human(task, inputs)
    scores = BoardScores(
        human=human,
        metrics=[_scores(task, metric, inputs.systems) for metric in inputs.metrics],
        ratings=each,
    )
    return {
        **metric_board(scores, seed=seed),
        "systems": [
            {"pk": s.pk, "name": s.name, "mean": s.mean, "low": s.low, "high": s.high}
            for s in inputs.systems
        ],
        "labels": {metric.slug: _label(metric) for metric in inputs.metrics},
        "n_judged": int((~np.isnan(human)).any(axis=0).sum()),
        "n_instances": task.n_instances,
        "n_simulated_left_out": inputs.n_simulated_left_out,
    }


def _label(metric: BoardMetric) -> dict[str, Any]:
    return {
        "label": metric.label,
        "higher_is_better": metric.higher_is_better,
        "outside": metric.outside_pk,
        "owner": metric.owner,
    }


def _human(task: Task, inputs: BoardInputs) -> tuple[Floats, EachRating | None]:
    """Return people's mean ratings, shape (systems, instances), and each rating."""
    # Missing ratings are NaN, not 0, and are left out of every mean and pair.
    table = np.full((len(inputs.systems), task.n_instances), np.nan)
    row_of = {system.pk: row for row, system in enumerate(inputs.systems)}
    evaluations = list(launched(row_of).order_by("pk"))
    ratings = dated_ratings_of([evaluation.pk for evaluation in evaluations])
    ratings = ratings[ratings["criterion"] == inputs.criterion]
    of = dict(iter(ratings.groupby("evaluation")))
    each: list[pd.DataFrame] = []
    for evaluation in evaluations:
        unit = _unit(evaluation, inputs.criterion)
        if (rated := of.get(evaluation.pk)) is None:
            continue
        rated = rated[rated["submission"] == evaluation.submission.pk]
        values = unit.averaged(rated["value"].to_numpy(float))
        row = row_of[evaluation.submission.pk]
        rated = rated.assign(value=values, row=row)
        means = rated.groupby("instance")["value"].mean()
        table[row, means.index.to_numpy(int)] = means.to_numpy(float)
        each.append(rated)
    return table, _each(each) if each else None


def _each(parts: list[pd.DataFrame]) -> EachRating:
    import pandas as pd

    ratings = pd.concat(parts)
    return EachRating(
        ratings["value"].to_numpy(dtype=np.float64),
        ratings["worker"].to_numpy(),
        ratings["row"].to_numpy(dtype=np.int64),
        ratings["instance"].to_numpy(dtype=np.int64),
    )


def _unit(evaluation: HumanEvaluation, criterion: str) -> Unit:
    campaigns = campaigns_of(evaluation)
    asking = [c for c in campaigns if criterion in c.hit_type.criteria]
    return unit_for(evaluation.design, (asking or campaigns)[0], criterion)


def _scores(
    task: Task, metric: BoardMetric, systems: list[BoardSystem]
) -> MetricScores:
    """Read one metric's numbers, negated if lower is better."""
    model = MetricResult if metric.outside_pk is None else OutsideScores
    numbers = {
        submission: (value, each)
        for submission, value, each in model.objects.filter(
            pk__in=list(metric.rows.values())
        ).values_list("submission_id", "value", "per_instance")
    }
    sign = 1.0 if metric.higher_is_better else -1.0
    overall = np.full(len(systems), np.nan)
    table = np.full((len(systems), task.n_instances), np.nan)
    by_instance = True
    for row, system in enumerate(systems):
        if system.pk not in numbers:
            continue
        value, each = numbers[system.pk]
        overall[row] = sign * value
        if len(each) == task.n_instances:
            table[row] = sign * np.asarray(each, dtype=np.float64)
        else:
            by_instance = False
    return MetricScores(metric.slug, overall, table if by_instance else None)
