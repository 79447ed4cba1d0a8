"""Ratings and metric scores of a task's public, published systems, for download.

No private data is included: no private or unpublished submissions, texts, test
questions or worker names. Rows are read one batch of submissions at a time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Q, QuerySet

from genie.lib.formats import assistant_says
from genie.lib.unguessable import name_for
from leaderboard.designs.base import Shown, document_of
from leaderboard.designs.several_outputs import TwoChoice
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
    ShownOutput,
)
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.metric_board.models import OutsideMetric, OutsideScores
from leaderboard.metric_runs.models import MetricResult
from leaderboard.metric_runs.selectors import chosen_of
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.selectors import (
    ON_BOARD,
    in_state,
    is_published,
    public,
)
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import task_view

if TYPE_CHECKING:
    import pandas as pd

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_COUNTED = {
    "headers": re.compile(r"^#{1,6}[ \t]+\S", re.MULTILINE),
    "lists": re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S", re.MULTILINE),
    "bold": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
}
_AT_ONCE = 200
HALF = 0.5


@dataclass(frozen=True)
class ScoredMetric:
    """One metric of one system: overall, and one number per instance or none."""

    submission: int
    metric: str
    overall: float
    per_instance: list[float]


def published_systems(task: Task, *, alone: bool = True) -> dict[int, tuple[str, bool]]:
    """Return name, and whether simulated, of each system that everyone may see.

    Systems that are not rated `alone` are never published: the board is enough.
    """
    states = is_published() if alone else in_state(*ON_BOARD)
    rows = Submission.objects.filter(public(), states, task=task)
    names = rows.order_by("pk").values_list("pk", "system_name", "simulated")
    return {pk: (name, simulated) for pk, name, simulated in names}


def instance_ids(task: Task) -> list[str]:
    rows = task.instances.order_by("position")
    return list(rows.values_list("instance_id", flat=True))


def documents(task: Task) -> list[str]:
    view = task_view(task, task.human)
    # references are not loaded, because they may be hidden
    return [
        document_of(view, Shown(row.pk, row.instance_id, row.fields, (), row.position))
        or row.instance_id
        for row in task.instances.order_by("position").defer("references")
    ]


def pseudonym(task: Task, worker_pk: int) -> str:
    """Return a worker's name for downloads; it differs between tasks."""
    return f"w-{name_for('judgments of a task', task.slug, worker_pk)[:12]}"


def judgments(task: Task, together: Collection[int] = ()) -> Iterator[dict[str, Any]]:
    """Yield ratings of single outputs, or of outputs rated `together` if there are any."""
    systems = published_systems(task, alone=not together)
    ids = instance_ids(task)
    evaluated = Submission.objects.filter(
        pk__in=list(systems), human_evaluation__isnull=False
    )
    pks = evaluated.order_by("pk").values_list("human_evaluation", flat=True)
    evaluations = list(dict.fromkeys(together or pks))
    for first in range(0, len(evaluations), _AT_ONCE):
        rows = system_ratings_of(evaluations[first : first + _AT_ONCE])
        rows = rows[rows["submission"].isin(list(systems))]
        rows = rows.sort_values(
            ["submission", "criterion", "instance", "worker"], kind="stable"
        )
        for row in _records(rows):
            name, simulated = systems[row["submission"]]
            yield {
                "system": name,
                "submission": int(row["submission"]),
                "instance": ids[int(row["instance"])],
                "criterion": str(row["criterion"]),
                "worker": pseudonym(task, int(row["worker"])),
                "value": float(row["value"]),
                "simulated": simulated,
                "imported": task.imported,
            }


def battles(task: Task) -> Iterator[dict[str, Any]]:
    """Yield the preferences in comparisons between public systems.

    Model a is the one shown first. Each row includes style counts of both texts, so that
    preferences can be adjusted for style without the texts.
    """
    systems = published_systems(task, alone=False)
    ids = instance_ids(task)
    for evaluation in _asked_in_pairs(task):
        pairs = _pairs(evaluation)
        styles = _styles({pk for both in pairs.values() for pk in both} & set(systems))
        for row in _records(system_ratings_of([evaluation.pk])):
            a, b = pairs.get(row["item"], (0, 0))
            # each preference is stored once for each system, mirrored: one of them is enough
            if row["submission"] != a or not {a, b} <= systems.keys():
                continue
            value, position = float(row["value"]), int(row["instance"])
            winner = "model_a" if value > HALF else "model_b"
            yield {
                "question_id": ids[position],
                "model_a": systems[a][0],
                "model_b": systems[b][0],
                "winner": "tie" if value == HALF else winner,
                "judge": pseudonym(task, int(row["worker"])),
                "turn": 1,
                "anony": True,
                "language": task.target_language,
                "criterion": str(row["criterion"]),
                "simulated": evaluation.simulated,
                "imported": task.imported,
                **{f"{k}_a": v for k, v in styles.get((a, position), {}).items()},
                **{f"{k}_b": v for k, v in styles.get((b, position), {}).items()},
            }


def _asked_in_pairs(task: Task) -> QuerySet[HumanEvaluation]:
    states = HumanEvaluation.State
    over = Comparison.objects.filter(state__in=[states.DECIDED, states.UNDECIDED])
    elsewhere = JointEvaluation.objects.filter(
        design=TwoChoice.slug, imported__isnull=False, state=states.SCORED
    )
    asked = Q(pk__in=over) | Q(pk__in=elsewhere)
    return HumanEvaluation.objects.filter(asked, task=task).order_by("pk")


def _pairs(evaluation: HumanEvaluation) -> dict[int, tuple[int, int]]:
    shown: dict[int, list[int]] = {}
    rows = ShownOutput.objects.filter(subject__evaluation=evaluation)
    for item, submission in rows.order_by("subject", "slot").values_list(
        "subject__item_id", "submission_id"
    ):
        shown.setdefault(item, []).append(submission or 0)
    return {item: (both[0], both[1]) for item, both in shown.items() if len(both) == 2}


def _styles(submissions: Collection[int]) -> dict[tuple[int, int], dict[str, int]]:
    rows = Prediction.objects.filter(submission__in=submissions).values_list(
        "submission_id", "instance__position", "text"
    )
    return {
        (pk, position): {name: int(n) for name, n in _style_of(text).items()}
        for pk, position, text in rows
    }


def _style_of(text: str) -> dict[str, float]:
    """Count the characters, headers, list items and bold parts of a text.

    In a conversation, all turns of the assistant count; code is not read as Markdown.
    """
    said = assistant_says(text)
    prose = _CODE.sub("", said)
    counts = {name: float(len(mark.findall(prose))) for name, mark in _COUNTED.items()}
    return {"length": float(len(said)), **counts}


def texts(task: Task, names: Mapping[int, str]) -> dict[str, Any]:
    """Return sources, references that are not hidden, and outputs, segment by segment."""
    rows = list(task.instances.order_by("position").values_list("fields", "references"))
    source = task.source_field or next(iter(task.field_labels), "")
    shown = not task.hidden_references and all(given for _, given in rows)
    outputs: dict[str, list[str]] = {names[pk]: [] for pk in names}
    predictions = Prediction.objects.filter(submission__in=list(names))
    for pk, text in predictions.order_by("instance__position").values_list(
        "submission_id", "text"
    ):
        outputs[names[pk]].append(text)
    return {
        "sources": [str(fields.get(source, "")) for fields, _ in rows],
        "references": [given[0] for _, given in rows] if shown else [],
        # imported systems may have no texts
        "outputs": {k: held for k, held in outputs.items() if len(held) == len(rows)},
    }


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    records: list[Any] = rows.to_dict("records")
    return records


def metric_scores(task: Task) -> Iterator[ScoredMetric]:
    """Yield the current results of the task's metrics and of published outside metrics."""
    systems = list(published_systems(task))
    identities = {chosen.slug: chosen.identity for chosen in chosen_of(task)}
    outside = dict(_outside(task))
    for first in range(0, len(systems), _AT_ONCE):
        some = systems[first : first + _AT_ONCE]
        rows = MetricResult.objects.filter(submission__in=some, metric__in=identities)
        newest = {
            (row.submission_id, row.metric): row
            for row in rows.order_by("pk")
            # the identity of a metric that cannot be computed here is unknown: any result is
            # accepted
            if identities[row.metric] in {"", row.identity}
        }
        others = OutsideScores.objects.filter(submission__in=some, metric__in=outside)
        scored: dict[int, list[OutsideScores]] = {}
        for one in others.order_by("metric_id"):
            scored.setdefault(one.submission_id, []).append(one)
        for pk in some:
            for slug in identities:
                if row := newest.get((pk, slug)):
                    yield ScoredMetric(pk, slug, row.value, row.per_instance)
            for one in scored.get(pk, ()):
                name = outside[one.metric_id]
                yield ScoredMetric(pk, name, one.value, one.per_instance)


def _outside(task: Task) -> Iterator[tuple[int, str]]:
    rows = OutsideMetric.objects.filter(task=task, withdrawn_at=None)
    shown = rows.exclude(published_at=None).select_related("owner").order_by("pk")
    for metric in shown:
        yield metric.pk, f"{metric.name} ({metric.owner.get_username()})"


def human_tables(task: Task) -> dict[str, dict[int, list[float | None]]]:
    """Return mean ratings by criterion, submission and instance; None without ratings."""
    tables: dict[str, dict[int, list[float | None]]] = {}
    sums: dict[tuple[str, int], tuple[Any, Any]] = {}
    index_of = {name: n for n, name in enumerate(instance_ids(task))}
    for row in judgments(task):
        key = (row["criterion"], row["submission"])
        total, n = sums.setdefault(
            key, (np.zeros(len(index_of)), np.zeros(len(index_of)))
        )
        total[index_of[row["instance"]]] += row["value"]
        n[index_of[row["instance"]]] += 1
    for (criterion, pk), (total, n) in sums.items():
        tables.setdefault(criterion, {})[pk] = [
            float(t / k) if k else None for t, k in zip(total, n, strict=True)
        ]
    return tables
