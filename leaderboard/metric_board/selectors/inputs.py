"""Inputs of a task's metric board: public, published, rated systems and their metrics."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import F

from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.coverage import ranked
from leaderboard.metric_board.models import OutsideMetric, OutsideScores
from leaderboard.metric_runs.models import MetricResult, MetricRun
from leaderboard.metric_runs.selectors import Chosen, chosen_of
from leaderboard.metrics.base import all_metrics
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task

# Increase it when the same inputs would give a different board.
BOARD_VERSION = "3"


@dataclass(frozen=True)
class BoardSystem:
    pk: int
    name: str
    simulated: bool
    score_pk: int
    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class BoardMetric:
    """A metric of the site or an outside metric, with the keys of its stored numbers."""

    slug: str
    label: str
    higher_is_better: bool
    # submission -> key of its MetricResult or OutsideScores
    rows: dict[int, int]
    outside_pk: int | None = None
    owner: str = ""


@dataclass(frozen=True)
class BoardInputs:
    """Everything that determines a board, by key; the numbers are read later."""

    criterion: str
    systems: list[BoardSystem]
    # left out: rated by programs, while people rated other systems
    n_simulated_left_out: int
    metrics: list[BoardMetric]

    @property
    def simulated(self) -> bool:
        return bool(self.systems) and all(s.simulated for s in self.systems)

    def sha256(self) -> str:
        # keys are enough: rows never change, and a new score is a new row
        parts: list[Any] = [BOARD_VERSION, settings.VERSION, self.criterion]
        parts.append([(s.pk, s.score_pk, s.name, s.simulated) for s in self.systems])
        parts.append(
            [
                (m.slug, m.label, m.higher_is_better, [*m.rows.items()])
                for m in self.metrics
            ]
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def criteria_of(task: Task) -> list[str]:
    return list(task.human.criteria)


def board_inputs(task: Task, criterion: str) -> BoardInputs:
    judged = _judged(task, criterion)
    by_people = [system for system in judged if not system.simulated]
    # one correlation never mixes people and programs; a board of programs alone is
    # labeled as such
    systems = by_people or judged
    metrics = [*_own(task, systems), *_outside(task, systems)]
    return BoardInputs(
        criterion=criterion,
        systems=systems,
        n_simulated_left_out=len(judged) - len(systems),
        metrics=metrics,
    )


def _judged(task: Task, criterion: str) -> list[BoardSystem]:
    rows = (
        Score.objects.filter(
            public("submission__"),
            ranked(),
            submission__task=task,
            submission__state=Submission.State.PUBLISHED,
            evaluation__submission=F("submission"),
            criterion=criterion,
            superseded_at=None,
        )
        .order_by("submission_id")
        .values_list(
            "submission_id",
            "submission__system_name",
            "submission__simulated",
            "pk",
            "mean",
            "low",
            "high",
            "n",
        )
    )
    return [BoardSystem(*row) for row in rows]


def _own(task: Task, systems: Sequence[BoardSystem]) -> list[BoardMetric]:
    """Return the task's metrics with a known direction that are not being recomputed."""
    running = set(
        MetricRun.objects.filter(task=task, state=MetricRun.State.RUNNING).values_list(
            "metric", flat=True
        )
    )
    pks = [system.pk for system in systems]
    metrics = []
    for chosen in chosen_of(task):
        better = chosen.metric.higher_is_better
        # during a run, some systems have new numbers and others old ones
        if better is None or chosen.slug in running:
            continue
        rows = _rows(chosen, pks)
        if rows:
            metrics.append(BoardMetric(chosen.slug, chosen.metric.label, better, rows))
    return metrics


def _rows(chosen: Chosen, pks: Sequence[int]) -> dict[int, int]:
    """Return each system's current result; the newest one of an absent metric."""
    results = MetricResult.objects.filter(submission__in=pks, metric=chosen.slug)
    if not chosen.absent:
        results = results.filter(identity=chosen.identity)
    return dict(results.order_by("pk").values_list("submission_id", "pk"))


def _outside(task: Task, systems: Sequence[BoardSystem]) -> list[BoardMetric]:
    published = (
        OutsideMetric.objects.filter(task=task, withdrawn_at=None)
        .exclude(published_at=None)
        .select_related("owner")
        .order_by("pk")
    )
    pks = [system.pk for system in systems]
    metrics = []
    for metric in published:
        scores = OutsideScores.objects.filter(metric=metric, submission__in=pks)
        rows = dict(scores.order_by("pk").values_list("submission_id", "pk"))
        owner = metric.owner.get_username()
        if rows:
            metrics.append(
                BoardMetric(
                    metric.slug,
                    metric.name,
                    metric.higher_is_better,
                    rows,
                    outside_pk=metric.pk,
                    owner=owner,
                )
            )
    return metrics


def left_out(task: Task) -> list[str]:
    """Return the task's metrics for which neither high nor low is better."""
    known = all_metrics()
    used = [s for s in task.configuration.metrics.use if s in known]
    return [known[s].label for s in used if known[s].higher_is_better is None]
