"""A worker's answers to test questions, with the texts and the right answers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from crowd.hit_templates.form import PLAIN
from crowd.hit_templates.formats import with_layout
from crowd.hits.models import HITType, Rating
from crowd.hits.services.build import HITTypeSpec
from crowd.scales.base import Scale, all_scales
from crowd.workers.models.worker import Worker
from quality.test_questions.models import Grade, Polarity

MOST = 200


@dataclass(frozen=True)
class GradedAnswer:
    grade: Grade
    # (label, text) of the fields that the worker saw, the input first
    shown: list[tuple[str, str]]
    given: list[str]
    right: str


def graded_answers(
    worker: Worker, pools: Collection[str] | None = None
) -> list[GradedAnswer]:
    """Return the newest graded answers, of these pools or of all."""
    rows = Grade.objects.filter(worker=worker).select_related(
        "test_question__item", "test_question__campaign__hit_type"
    )
    if pools is not None:
        rows = rows.filter(pool__in=pools)
    grades = list(rows.order_by("-pk")[:MOST])
    answers: dict[tuple[int, int], list[Rating]] = {}
    for answer in Rating.objects.filter(
        assignment__in=[grade.assignment_id for grade in grades]
    ).order_by("pk"):
        answers.setdefault((answer.assignment_id, answer.item_id), []).append(answer)
    return [
        _graded_answer(
            grade, answers.get((grade.assignment_id, grade.test_question.item_id), [])
        )
        for grade in grades
    ]


def _graded_answer(grade: Grade, answers: list[Rating]) -> GradedAnswer:
    test_question = grade.test_question
    hit_type = test_question.campaign.hit_type
    scale = all_scales()[hit_type.scale]
    return GradedAnswer(
        grade,
        shown_fields(test_question.item.data),
        given_answers(answers, scale),
        right_answer(
            grade.polarity, test_question.expected, hit_type, criterion=grade.criterion
        ),
    )


def shown_fields(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (label, text) of an item's input, then of the rated texts."""
    layout = data.get("format", PLAIN)
    shown = [
        (
            str(field["label"]),
            with_layout(str(field["text"]), field.get("format", PLAIN)),
        )
        for field in data.get("fields", ())
    ]
    named = {
        "reference": "Reference",
        "standard": "Reference output",
        "prediction": "Text to rate",
    }
    shown += [
        (label, with_layout(str(data[key]), layout))
        for key, label in named.items()
        if data.get(key)
    ]
    return shown + [
        (f"Output {output['slot']}", with_layout(str(output["text"]), layout))
        for output in data.get("outputs", ())
    ]


def given_answers(answers: list[Rating], scale: type[Scale]) -> list[str]:
    labels = {option.raw: f" ({option.label})" for option in scale.options}
    return [
        f"{answer.criterion}{f' of {answer.slot}' if answer.slot else ''}: "
        f"{answer.raw}{labels.get(answer.raw, '')}"
        for answer in answers
    ]


def right_answer(
    polarity: str,
    expected: Mapping[str, Any],
    hit_type: HITType | HITTypeSpec,
    *,
    criterion: str = "",
) -> str:
    """Describe the right answer, on one criterion or on all that are marked."""
    right = right_on_each(polarity, expected, hit_type)
    marked = [criterion] if criterion else expected.get("criteria")
    marked = list(marked or hit_type.criteria)
    if len(hit_type.criteria) == 1:
        return right
    if len(marked) == 1:
        return f"{marked[0]}: {right}"
    return f"{right}; on each of {', '.join(marked)}"


def right_on_each(
    polarity: str, expected: Mapping[str, Any], hit_type: HITType | HITTypeSpec
) -> str:
    if "not_best" in expected:
        return f"{expected['not_best']} is not the best"
    if "slot" in expected:
        better = "not worse" if "or_equal" in expected else "better"
        return f"{expected['slot']} is {better}"
    scale = all_scales()[hit_type.scale]
    line = float(expected.get("threshold", scale.binary_threshold))
    return _right_ratings(scale, line, good=polarity == Polarity.POSITIVE)


def _right_ratings(scale: type[Scale], line: float, *, good: bool) -> str:
    if scale.options:
        return " or ".join(
            [option.label for option in scale.options if (option.value > line) is good]
        )
    worth = line * 100 if scale.relative else line
    return f"above {worth:g}" if good else f"{worth:g} or less"
