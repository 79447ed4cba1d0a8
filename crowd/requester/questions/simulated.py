"""What a simulated worker answers: anything that a form allows, drawn by a seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import numpy as np

from crowd.requester.questions.answers import FormAnswer, answer_xml, form_answer_xml
from crowd.requester.questions.question_form import Asked, Selection, read_form
from crowd.requester.questions.questions import Question

TEXT = "A simulated answer."
_NO_ANSWER = frozenset({"submit", "button", "reset", "image", "file"})
_NUMBERS = {"number": (0, 10), "range": (0, 100)}
_CROWD = {
    "crowd-input": "text",
    "crowd-text-area": "text",
    "crowd-slider": "range",
    "crowd-checkbox": "checkbox",
    "crowd-radio-button": "radio",
}


def answer_to(question: Question, rng: np.random.Generator) -> str:
    """Answer a page or a form as QuestionFormAnswers.

    Examples
    --------
    >>> page = Question("html", "<input type=radio name=mood value=good>", 0)
    >>> "<FreeText>good</FreeText>" in answer_to(page, np.random.default_rng(1))
    True
    """
    if question.kind == "form":
        asked = read_form(question.content).questions
        return form_answer_xml(_written(one, rng) for one in asked)
    fields = _Fields()
    fields.feed(question.content)
    if fields.of_crowd_form:
        answers: dict[str, Any] = {}
        for one in fields.found.values():
            _add_crowd_answer(answers, one, rng)
        return answer_xml([("taskAnswers", json.dumps([answers]))])
    return answer_xml(
        (one.name, value)
        for one in fields.found.values()
        for value in _chosen(one, rng)
    )


@dataclass
class _Field:
    """A field of a page, or the buttons of one name."""

    name: str
    kind: str
    values: list[str] = field(default_factory=list)
    low: int = 0
    high: int = 0


class _Fields(HTMLParser):
    """Collect the fields that a page sends in."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[tuple[str, str], _Field] = {}
        self.of_crowd_form = False
        self._select: _Field | None = None
        self._group = 0

    def handle_starttag(
        self, tag: str, attrs: Sequence[tuple[str, str | None]]
    ) -> None:
        known = {name: value or "" for name, value in attrs}
        if tag == "crowd-form":
            self.of_crowd_form = True
        elif tag == "crowd-radio-group":
            self._group += 1
        elif tag == "option" and self._select is not None:
            value = known.get("value", "")
            self._select.values += [value] if value else []
        elif "disabled" not in known:
            self._take(tag, known)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = None

    def _take(self, tag: str, known: dict[str, str]) -> None:
        name = known.get("name", "")
        if tag == "select" and name:
            self._select = self._field(name, "select", known)
        elif tag == "textarea" and name:
            self._field(name, "text", known)
        elif tag == "input" and name:
            kind = known.get("type", "text").lower()
            if kind not in _NO_ANSWER:
                self._field(name, kind, known)
        elif tag in _CROWD and name:
            # the buttons of a crowd-form have a name each; their group is the question
            buttons = _CROWD[tag] == "radio"
            one = f"group-{self._group}" if buttons else name
            self._field(
                one, _CROWD[tag], {**known, "value": name} if buttons else known
            )

    def _field(self, name: str, kind: str, known: dict[str, str]) -> _Field:
        low, high = _NUMBERS.get(kind, (0, 0))
        made = self.found.setdefault((name, kind), _Field(name, kind, [], low, high))
        made.low, made.high = _bound(known, "min", low), _bound(known, "max", high)
        if kind in {"radio", "checkbox", "hidden"}:
            usual = "" if kind == "hidden" else "on"
            made.values.append(known.get("value", usual))
        return made


def _bound(known: dict[str, str], name: str, usual: int) -> int:
    try:
        return int(float(known.get(name, usual)))
    except (ValueError, OverflowError):
        return usual


def _chosen(one: _Field, rng: np.random.Generator) -> list[str]:
    """Give the values that a browser would send for a field."""
    if one.kind == "hidden":
        return one.values
    if one.kind in {"radio", "select"}:
        return [_any(one.values, rng)] if one.values else []
    if one.kind == "checkbox":
        return [value for value in one.values if rng.random() < 0.5]
    if one.kind in _NUMBERS:
        return [str(_number(one.low, one.high, rng))]
    return [TEXT]


def _add_crowd_answer(
    answers: dict[str, Any], one: _Field, rng: np.random.Generator
) -> None:
    """Write a field as the script behind ``crowd-form`` does."""
    chosen = _chosen(one, rng)
    if one.kind == "radio":
        answers.update({value: {"on": value in chosen} for value in one.values})
    elif one.kind == "checkbox":
        answers[one.name] = {value: value in chosen for value in one.values}
    else:
        answers[one.name] = chosen[0] if chosen else ""


def _written(asked: Asked, rng: np.random.Generator) -> FormAnswer:
    answer = asked.answer
    if not isinstance(answer, Selection):
        text = answer.default or TEXT[: answer.longest].ljust(answer.shortest, ".")
        if answer.numeric:
            low = int(answer.low) if answer.low is not None else 0
            high = int(answer.high) if answer.high is not None else low + 10
            text = str(_number(low, high, rng))
        return FormAnswer(asked.identifier, text=text)
    names = [choice.identifier for choice in answer.choices]
    n = min(max(answer.at_least, 1), len(names))
    places = sorted(rng.permutation(len(names))[:n])
    chosen = tuple(names[int(place)] for place in places)
    return FormAnswer(asked.identifier, selections=chosen)


def _any(values: list[str], rng: np.random.Generator) -> str:
    return values[int(rng.integers(len(values)))]


def _number(low: int, high: int, rng: np.random.Generator) -> int:
    bounded = max(min(low, 10**9), -(10**9))
    return int(rng.integers(bounded, max(min(high, 10**9), bounded) + 1))
