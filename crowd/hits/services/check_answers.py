"""Check what a page sent, before anything of it is believed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from crowd import hit_templates
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HITType, Item
from crowd.hits.selectors.questions import Asked, questions_about
from crowd.hits.services.check_spans import checked_spans
from genie.lib.errors import GenieError

Answers = Mapping[str, Mapping[str, str]]
# Beside the criteria: the spans that were marked, where a template asks for them.
SPANS = "spans"


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
    spans = checked_spans(raw_answers.get(SPANS, ""), item.data["prediction"])
    return [replace(ratings[0], detail={"spans": spans}), *ratings[1:]]


def _rating(item: Item, question: Asked, raw_answers: Mapping[str, str]) -> Rating:
    raw = raw_answers.get(question.key, "").strip()
    if not raw and question.checkbox:
        raw = "0"  # a box without its tick sends nothing
    if not raw:
        raise GenieError(
            "Please answer every question.",
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
        "The page sent an answer to a question that is not in this HIT; reload the "
        "page.",
        code="unknown-question",
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
