"""One piece of work item by item, for staff: the texts, edits, answers and keys."""

from dataclasses import dataclass

from crowd.hits.models.assignment import Answer, Assignment
from crowd.hits.models.campaign import Item
from crowd.scales.find import all_scales
from quality.test_questions.models import Placement
from quality.test_questions.selectors import (
    given_answers,
    right_answer,
    shown_fields,
)


@dataclass(frozen=True)
class MarkedItem:
    """One item of an assignment.

    Parameters
    ----------
    shown : list of (str, str)
        Label and text of the fields that the worker saw, the input first.
    edit : str
        The change to the text of a test question; empty if there is none.
    lines : list of (str, str, str)
        Criterion, answer, and right answer (empty if unknown).
    """

    shown: list[tuple[str, str]]
    is_test: bool
    edit: str
    lines: list[tuple[str, str, str]]


def marked_items(assignment: Assignment) -> list[MarkedItem]:
    items = list(assignment.hit.items.all())
    placements = {row.item_id: row for row in Placement.objects.filter(item__in=items)}
    answers: dict[int, list[Answer]] = {}
    for answer in assignment.answers.order_by("pk"):
        answers.setdefault(answer.item_id, []).append(answer)
    return [
        _marked(assignment, item, answers.get(item.pk, []), placements.get(item.pk))
        for item in items
    ]


def _marked(
    assignment: Assignment,
    item: Item,
    answers: list[Answer],
    placement: Placement | None,
) -> MarkedItem:
    hit_type = assignment.hit.campaign.hit_type
    scale = all_scales()[hit_type.scale]
    keys = key_of(placement) if placement else {}
    lines = []
    for answer in answers:
        [said] = given_answers([answer], scale)
        name, _, value = said.partition(": ")
        lines.append((name, value, keys.get(answer.criterion, "")))
    return MarkedItem(
        shown_fields(item.data),
        placement is not None,
        edit_of(placement) if placement else "",
        lines,
    )


def key_of(placement: Placement) -> dict[str, str]:
    """Return the right answer for each criterion that the question is marked on."""
    hit_type, expected = placement.campaign.hit_type, placement.expected
    marked = list(expected.get("criteria") or hit_type.criteria)
    keys = {}
    for criterion in marked:
        alone = {**expected, "criteria": [criterion]}
        right = right_answer(placement.polarity, alone, hit_type)
        keys[criterion] = right.removeprefix(f"{criterion}: ")
    return keys


def edit_of(placement: Placement) -> str:
    """Return the change to the text; empty if the question's maker stored none."""
    record = getattr(placement, "made_from", None) or {}
    edit = record.get("edit") if isinstance(record, dict) else None
    return str(edit.get("sentence", "")) if isinstance(edit, dict) else ""
