from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd import hit_templates
from crowd.hit_templates.errors import Errors, read_errors
from crowd.hit_templates.form import CHECKBOXES, CHECKBOXES_IN, Form, read_form
from crowd.hits.models.campaign import HITType
from crowd.scales.base import Scale
from crowd.scales.find import all_scales

# In addition to the criteria: the marked errors, if a template asks for them.
SPANS = "spans"
# In an output's data: the marks it comes with, and who made them.
PREFILLED, BY = "spans", "spans_by"


@dataclass(frozen=True)
class Asked:
    """One question; with a slot it is about that output only."""

    criterion: str
    slot: str
    text: str
    scale: type[Scale]
    checkbox: bool = False
    # before the input is shown
    first: bool = False

    @property
    def key(self) -> str:
        return f"{self.criterion}@{self.slot}" if self.slot else self.criterion


def form_of(hit_type: HITType) -> Form:
    return read_form(hit_type.form, hit_type.criteria)


def errors_of(hit_type: HITType) -> Errors:
    usual = hit_templates.get(hit_type.template).form.get("errors", {})
    return read_errors(hit_type.form.get("errors") or usual)


@dataclass(frozen=True)
class Marked:
    text: str
    # None: it comes without, and changes to marks are not recorded.
    prefilled: Sequence[Mapping[str, Any]] | None = None
    # who made these
    by: str = ""


def marked_texts(hit_type: HITType, data: Mapping[str, Any]) -> dict[str, Marked]:
    """Return by slot the texts in which errors are marked; empty if there are none."""
    if not hit_templates.get(hit_type.template).marks_errors:
        return {}
    outputs = {str(one["slot"]): one for one in data.get("outputs") or []}
    parts = outputs or {"": {**data, "text": data["prediction"]}}
    return {
        slot: Marked(str(one["text"]), one.get(PREFILLED), str(one.get(BY, "")))
        for slot, one in parts.items()
    }


def spans_key(slot: str) -> str:
    return f"{SPANS}@{slot}" if slot else SPANS


def scale_of(hit_type: HITType) -> type[Scale]:
    ties = hit_type.scale == "two-choice" and form_of(hit_type).allow_tie
    scale = all_scales()["two-choice-tie" if ties else hit_type.scale]
    return scale.in_language(hit_type.language)


def questions_about(hit_type: HITType, data: Mapping[str, Any]) -> list[Asked]:
    """Return the questions about one item, by output and then by criterion."""
    scale = scale_of(hit_type)
    form = form_of(hit_type)
    ticks = CHECKBOXES_IN.get(hit_type.language, CHECKBOXES)
    slots = [""] if scale.compares else slots_of(data) or [""]
    return [
        question
        for slot in slots
        for question in _of_slot(hit_type.criteria, form, scale, slot, ticks)
    ]


def slots_of(data: Mapping[str, Any]) -> list[str]:
    return [str(output["slot"]) for output in data.get("outputs") or []]


def _of_slot(
    criteria: Mapping[str, str],
    form: Form,
    scale: type[Scale],
    slot: str,
    ticks: Mapping[str, str],
) -> list[Asked]:
    rated = [
        Asked(criterion, slot, text, scale, first=criterion in form.before_input)
        for criterion, text in criteria.items()
    ]
    ticked = [
        Asked(name, slot, ticks[name], all_scales()["binary"], checkbox=True)
        for name in form.checkboxes
    ]
    return [question for question in rated if question.first] + [
        question for question in rated + ticked if not question.first
    ]
