"""A task's answers beside a judge's scores of the same outputs, as evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from crowd.hits.models import Campaign, Pool
from crowd.workers.models.worker import Worker
from leaderboard.evaluation.models.human_evaluation import ShownOutput, Subject
from leaderboard.tasks.models import Task
from quality.authenticity.evidence import Line, crowd_evidence, page_evidence
from quality.authenticity.selectors import notice_worker, tests_of
from quality.authenticity.stats.likelihood_ratio import Answers
from quality.bans.selectors import EXCLUDED, all_ratings_of
from quality.counts import Ints

if TYPE_CHECKING:
    import pandas as pd

#: The newest campaigns of a worker; older ones are less relevant today.
MOST_CAMPAIGNS = 10
# answers that were submitted and not rejected, whether or not they count
_HANDED_IN = ("", EXCLUDED, "replaced")

Judge = dict[int, list[float | None]]


def worker_evidence(worker: Worker) -> dict[Pool, list[Line]]:
    pools = Pool.objects.filter(campaign__hits__assignments__worker=worker).distinct()
    return {pool: _in_pool(worker, pool.pk) for pool in pools}


def _in_pool(worker: Worker, pool: str) -> list[Line]:
    lines = page_evidence(notice_worker(worker, pool))
    task = Task.objects.filter(slug=pool).first()
    if task is None:
        return lines
    ratings = _ratings(worker, pool)
    if worker.pk not in set(ratings["worker"]):
        return lines
    judge = task.human.judge
    workers = sorted(set(ratings["worker"].tolist()))
    lines_of = _evidence(ratings, workers, pool, judge, judge_scores(task, judge))
    return [*lines_of(workers.index(worker.pk)), *lines]


def _evidence(
    ratings: pd.DataFrame, workers: list[int], pool: str, judge: str, scores: Judge
) -> Callable[[int], list[Line]]:
    tests = tests_of(pool)
    names = dict(Worker.objects.filter(pk__in=workers).values_list("pk", "pseudonym"))
    return crowd_evidence(
        _answers(ratings, workers, scores),
        [names[pk] for pk in workers],
        [tests.get(pk, (0, 0)) for pk in workers],
        judge,
    )


def judge_scores(task: Task, judge: str) -> Judge:
    """Return scores by submission and instance; `judge` is a metric or its name."""
    if not judge:
        return {}
    results = task.submissions.filter(metric_results__metric=judge)
    results = results.order_by("metric_results__pk")
    if found := dict(results.values_list("pk", "metric_results__per_instance")):
        return found
    outside = task.outside_metrics.filter(name=judge, withdrawn_at=None).first()
    if outside is None:
        return {}
    return dict(outside.scores.order_by("pk").values_list("submission", "per_instance"))


def _ratings(worker: Worker, pool: str) -> pd.DataFrame:
    import pandas as pd

    campaigns = list(
        Campaign.objects.filter(pool=pool, hits__assignments__worker=worker)
        .distinct()
        .order_by("-pk")
        .values_list("pk", flat=True)[:MOST_CAMPAIGNS]
    )
    ratings = all_ratings_of(campaigns)
    ratings = ratings[ratings["why_not"].isin(_HANDED_IN)]
    shown = pd.DataFrame.from_records(
        list(
            Subject.objects.filter(item__campaign__in=campaigns)
            .order_by("pk")
            .values_list(
                "item", "instance__position", "item__campaign__asked__submission"
            )
        ),
        columns=["item", "instance", "own"],
    )
    rows = ratings.merge(shown, on="item")
    systems = pd.Series(_systems(rows, campaigns), index=rows.index, dtype=object)
    return rows.assign(systems=systems)


def _systems(rows: pd.DataFrame, campaigns: Collection[int]) -> list[tuple[int, ...]]:
    placed: dict[int, dict[str, int]] = {}
    outputs = ShownOutput.objects.filter(
        subject__item__campaign__in=campaigns, submission__isnull=False
    )
    for item, slot, submission in outputs.order_by("slot").values_list(
        "subject__item", "slot", "submission"
    ):
        placed.setdefault(item, {})[slot] = submission
    found: list[tuple[int, ...]] = []
    for item, slot, own in zip(rows["item"], rows["slot"], rows["own"], strict=True):
        slots = placed.get(item, {})
        if slot:
            found.append((slots.get(slot, -1),))
        elif slots:
            found.append(tuple(slots.values()))
        else:
            found.append((-1 if own is None or own != own else int(own),))
    return found


def _answers(ratings: pd.DataFrame, workers: list[int], scores: Judge) -> Answers:
    by_criterion = ratings.groupby("criterion")["value"]
    spread = by_criterion.transform("std", ddof=0)
    value = (ratings["value"] - by_criterion.transform("mean")) / spread.where(
        spread > 0, 1
    )
    judge = [
        _word(scores, systems, instance)
        for systems, instance in zip(
            ratings["systems"], ratings["instance"], strict=True
        )
    ]
    return Answers(
        np.searchsorted(workers, ratings["worker"].to_numpy()),
        _codes(ratings, "item", "slot"),
        _codes(ratings, "instance"),
        _codes(ratings, "systems"),
        value.to_numpy(dtype=float),
        np.array(judge, dtype=float),
    )


def _codes(ratings: pd.DataFrame, *columns: str) -> Ints:
    return np.asarray(ratings.groupby([*columns, "criterion"]).ngroup(), dtype=np.int64)


def _word(scores: Judge, systems: tuple[int, ...], instance: int) -> float:
    found = []
    for system in systems:
        column = scores.get(system, [])
        score = column[instance] if instance < len(column) else None
        found.append(float("nan") if score is None else float(score))
    if len(found) == 2:
        return found[0] - found[1]
    return found[0] if len(found) == 1 else float("nan")
