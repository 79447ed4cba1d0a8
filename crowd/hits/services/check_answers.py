"""Check what a page sent, before anything of it is believed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext

from crowd import hit_templates
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HITType, Item
from crowd.hits.selectors.questions import Asked, questions_about
from genie.lib.errors import GenieError

Answers = Mapping[str, Mapping[str, str]]
# Beside the criteria: the spans that were marked, where a template asks for them.
SPANS = "spans"
SEVERITIES = ("minor", "major")
MOST_SPANS = 200
MOST_CHARACTERS = 20_000
SPAN_KEYS = {"start", "end", "severity"}

Span = dict[str, int | str]


@dataclass(frozen=True)
class Rating:
    """One checked answer."""

    item_pk: int
    criterion: str
    value: float
    raw: str
    slot: str = ""
    detail: dict[str, Any] | None = None


def checked(assignment: Assignment, answers: Answers) -> list[Rating]:
    """Parse the answers on the scale: each question of each item once, no others."""
    hit_type = assignment.hit.campaign.hit_type
    items = {item.key: item for item in assignment.hit.items.all()}
    if not set(answers) <= set(items):
        raise _unknown()
    return [
        rating
        for item in items.values()
        for rating in ratings_of(hit_type, item, answers.get(item.key, {}))
    ]


def ratings_of(
    hit_type: HITType, item: Item, raw_answers: Mapping[str, str]
) -> list[Rating]:
    """Parse the answers to the questions about one item; see `checked`."""
    questions = questions_about(hit_type, item.data)
    marks = hit_templates.get(hit_type.template).marks_errors
    known = {question.key for question in questions} | ({SPANS} if marks else set())
    if not set(raw_answers) <= known:
        raise _unknown()
    ratings = [_rating(item, question, raw_answers) for question in questions]
    if not marks:
        return ratings
    spans = _checked_spans(raw_answers.get(SPANS, ""), item.data["prediction"])
    return [replace(ratings[0], detail={"spans": spans}), *ratings[1:]]


def _rating(item: Item, question: Asked, raw_answers: Mapping[str, str]) -> Rating:
    raw = raw_answers.get(question.key, "").strip()
    if not raw and question.checkbox:
        raw = "0"  # a box without its tick sends nothing
    if not raw:
        raise GenieError(
            gettext("Please answer every question."),
            code="answer-missing",
            details={"item": item.key, "criterion": question.key},
        )
    value = question.scale.parse(raw)
    if question.scale.relative and item.data.get("standard_value"):
        # The rating is a ratio to 100; this reference output is worth something else.
        value = value * 100 / float(item.data["standard_value"])
    return Rating(item.pk, question.criterion, value, raw, question.slot)


def _unknown() -> GenieError:
    return GenieError(
        gettext(
            "The page sent an answer to a question that is not in this HIT; reload the "
            "page."
        ),
        code="unknown-question",
    )


def _checked_spans(raw: str, text: str) -> list[Span]:
    """Read marked spans; offsets count the text's code points, the end is outside.

    Raises
    ------
    GenieError
        ``unusable-spans`` for anything that the page's own marks cannot be.
    """
    if not raw.strip():
        return []
    sent = _loaded_spans(raw)
    if not isinstance(sent, list) or len(sent) > MOST_SPANS:
        raise _unusable_spans("they are not a list of marks")
    spans = sorted((_span(mark, len(text)) for mark in sent), key=lambda s: s["start"])
    for before, after in pairwise(spans):
        if int(after["start"]) < int(before["end"]):
            raise _unusable_spans("two of them overlap")
    return spans


def _loaded_spans(raw: str) -> Any:
    if len(raw) > MOST_CHARACTERS:
        raise _unusable_spans("there are too many")
    try:
        return json.loads(raw)
    # JSON that is nested deeply enough exhausts the stack instead of being wrong.
    except (ValueError, RecursionError):
        raise _unusable_spans("they cannot be read") from None


def _span(mark: Any, n: int) -> Span:
    if not isinstance(mark, dict) or set(mark) != SPAN_KEYS:
        raise _unusable_spans("one of them lacks its start, end or severity")
    start, end, severity = mark["start"], mark["end"], mark["severity"]
    # `type` and not `isinstance`: True would pass for an integer.
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= n:
        raise _unusable_spans("one of them is not inside the text")
    if severity not in SEVERITIES:
        raise _unusable_spans("one of them is neither minor nor major")
    return {"start": start, "end": end, "severity": severity}


def _unusable_spans(why: str) -> GenieError:
    return GenieError(
        gettext("The error marks are not valid: %(why)s. Reload the page.")
        % {"why": why},
        code="unusable-spans",
    )


def plausible_seconds(
    active_seconds: float | None, wall_seconds: float
) -> float | None:
    """Believe a measured time no further than the time that passed on our clock."""
    if active_seconds is None or not math.isfinite(active_seconds):
        return None
    if active_seconds < 0:
        return None
    return min(active_seconds, max(0.0, wall_seconds))


def clean_remark(remark: str, limit: int = 2_000) -> str:
    """Keep what can be stored and read: no control characters but line breaks."""
    # The two invisible joiners part words and letters in Persian, in Indian scripts and
    # in emoji.
    kept = "".join(c for c in remark if c.isprintable() or c in "\n\t\u200d\u200c")
    return kept.strip()[:limit]
