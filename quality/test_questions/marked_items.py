"""One piece of work item by item, for staff: what was shown, edited, answered, and right."""

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
        The fields that the worker saw, the input first.
    is_test : bool
        Whether the right answers are known.
    edit : str
        What was changed in the text of a test question; empty where nothing was.
    lines : list of (str, str, str)
        Criterion, what was answered, and what counts as right (empty: nothing is known).
    """

    shown: list[tuple[str, str]]
    is_test: bool
    edit: str
    lines: list[tuple[str, str, str]]


def marked_items(assignment: Assignment) -> list[MarkedItem]:
    """Give an assignment's items with the key of each criterion, where there is one."""
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
    """Say what counts as right on each criterion that the question is marked on."""
    hit_type, expected = placement.campaign.hit_type, placement.expected
    marked = list(expected.get("criteria") or hit_type.criteria)
    keys = {}
    for criterion in marked:
        alone = {**expected, "criteria": [criterion]}
        right = right_answer(placement.polarity, alone, hit_type)
        keys[criterion] = right.removeprefix(f"{criterion}: ")
    return keys


def edit_of(placement: Placement) -> str:
    """Say what was changed in the text, where the question's maker has kept a record."""
    record = getattr(placement, "made_from", None) or {}
    edit = record.get("edit") if isinstance(record, dict) else None
    return str(edit.get("sentence", "")) if isinstance(edit, dict) else ""
