"""Judgments as campaigns of WMT write them down: segments, documents, marked errors.

Only of public, published systems; with texts where the licence lets them be handed on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from crowd.hits.models.assignment import Answer
from crowd.hits.selectors.questions import SPANS
from leaderboard.designs.base import Shown, all_designs, document_of
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, JudgedOutput
from leaderboard.evaluation.selectors.campaigns import campaigns_of
from leaderboard.evaluation.selectors.system_ratings import (
    all_system_ratings_of,
    unit_for,
)
from leaderboard.metric_board.selectors.downloads import pseudonym, published
from leaderboard.submissions.models.submission import Prediction
from leaderboard.tasks.licence import may_be_copied
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import task_view

Names = Mapping[int, str]


@dataclass(frozen=True)
class Segment:
    """One instance as WMT names it: its place from 1 on, and its document."""

    number: int
    name: str
    document: str
    # "" where the licence does not let texts be handed on
    source: str


@dataclass(frozen=True)
class Judgment:
    """What one worker said of one system's output for one segment."""

    worker: str
    system: str
    segment: Segment
    # from 0 to 100; None: nothing was asked but the marks
    score: float | None
    # None: errors were not marked
    spans: Sequence[Mapping[str, Any]] | None
    # midnight of its day in UTC, in Unix seconds: the hour could tell who it was; None
    # where nobody knows the day
    day: int | None


def segments(task: Task) -> dict[int, Segment]:
    """Give the segments by their place in the task, from 0 on."""
    view, copied = task_view(task, task.human), may_be_copied(task.licence)
    source = task.source_field or next(iter(task.field_labels), "")
    found = {}
    for row in task.instances.order_by("position").defer("references"):
        document = document_of(view, _shown(row)) or row.instance_id
        text = str(row.fields.get(source, "")) if copied else ""
        number = row.position + 1
        found[row.position] = Segment(number, row.instance_id, document, text)
    return found


def _shown(row: Any) -> Shown:
    # without its references, which may be hidden
    return Shown(row.pk, row.instance_id, row.fields, (), row.position)


def names(task: Task) -> dict[int, str]:
    """Name the public systems, each differently."""
    systems = {pk: name for pk, (name, _) in published(task).items()}
    taken = list(systems.values())
    return {
        pk: f"{name}-{pk}" if taken.count(name) > 1 else name
        for pk, name in systems.items()
    }


def judgments(task: Task) -> Iterator[Judgment]:
    """Go through the ratings that count, evaluation by evaluation.

    A page with two systems gives two judgments, one after the other.
    """
    systems, about = names(task), segments(task)
    for evaluation in _evaluations(task, systems):
        yield from _of(task, evaluation, systems, about)


def marks_errors(task: Task) -> bool:
    """Tell whether errors are marked in the task's outputs."""
    design = all_designs().get(task.human.design)
    return design is not None and design.marks_errors


def outputs(task: Task) -> dict[int, dict[str, str]]:
    """Give the outputs of public systems by place and system.

    None of a task whose licence does not let its texts be handed on.
    """
    if not may_be_copied(task.licence):
        return {}
    systems = names(task)
    rows = Prediction.objects.filter(submission__in=list(systems)).order_by("pk")
    found: dict[int, dict[str, str]] = {}
    for pk, position, text in rows.values_list(
        "submission_id", "instance__position", "text"
    ):
        found.setdefault(position, {})[systems[pk]] = text
    return found


def _evaluations(task: Task, systems: Names) -> Iterator[HumanEvaluation]:
    single = HumanEvaluation.objects.filter(submission__in=list(systems))
    yield from single.order_by("submission")
    marked = [slug for slug, design in all_designs().items() if design.marks_errors]
    joint = HumanEvaluation.objects.filter(
        task=task,
        strategy=HumanEvaluation.Strategy.JOINT,
        design__in=marked,
        scored_at__isnull=False,
    )
    for evaluation in joint.order_by("pk"):
        members = evaluation.systems.values_list("submission_id", flat=True)
        if set(members) <= set(systems):
            yield evaluation


def _of(
    task: Task,
    evaluation: HumanEvaluation,
    systems: Names,
    about: Mapping[int, Segment],
) -> Iterator[Judgment]:
    campaign = campaigns_of(evaluation)[0]
    criterion = next(iter(campaign.hit_type.criteria))
    unit = unit_for(evaluation.design, campaign, criterion)
    rows = all_system_ratings_of([evaluation.pk])
    counts = (rows["why_not"] == "") & (rows["criterion"] == criterion)
    rows = rows[counts & rows["submission"].isin(list(systems))]
    rows = rows.assign(
        percent=unit.averaged(rows["value"].to_numpy(float)) if unit.percent else None
    )
    spans_of, slot_of = _spans(campaign.pk, criterion), _slots(evaluation)
    order = ["worker", "instance", "item", "submission"]
    for row in rows.sort_values(order, kind="stable").to_dict("records"):
        slot = slot_of.get((row["item"], row["submission"]), "")
        yield Judgment(
            worker=pseudonym(task, int(row["worker"])),
            system=systems[int(row["submission"])],
            segment=about[int(row["instance"])],
            score=float(row["percent"]) if unit.percent else None,
            spans=spans_of.get((row["item"], row["worker"], slot)),
            day=_midnight(str(row["on"])),
        )


def _midnight(day: str) -> int | None:
    """Give a day's beginning; judgments made elsewhere may have come without one."""
    if not day:
        return None
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


def _spans(campaign: int, criterion: str) -> dict[tuple[int, int, str], Any]:
    rows = Answer.objects.filter(
        item__campaign=campaign, criterion=criterion, detail__isnull=False
    ).values_list("item_id", "assignment__worker_id", "slot", "detail")
    return {
        (item, worker, slot): (detail or {}).get(SPANS)
        for item, worker, slot, detail in rows
    }


def _slots(evaluation: HumanEvaluation) -> dict[tuple[int, int | None], str]:
    rows = JudgedOutput.objects.filter(judged_item__evaluation=evaluation)
    return {
        (item, submission): slot
        for item, submission, slot in rows.values_list(
            "judged_item__item_id", "submission_id", "slot"
        )
    }
