import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from crowd.hit_templates.errors import span_score
from crowd.hits.models import Assignment, HITType, Item
from crowd.hits.selectors import (
    SPANS,
    Asked,
    errors_of,
    marked_texts,
    questions_about,
    spans_key,
)
from crowd.hits.services.marked_spans import checked_spans, detail_of
from genie.lib.errors import GenieError

Answers = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Rating:
    item_pk: int
    criterion: str
    value: float
    raw: str
    slot: str = ""
    detail: dict[str, Any] | None = None


def checked(assignment: Assignment, answers: Answers) -> list[Rating]:
    """Parse the answers: each question of each item exactly once, no others."""
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
    questions = questions_about(hit_type, item.data)
    texts = marked_texts(hit_type, item.data)
    asked = {question.key for question in questions if not question.scale.counted}
    if not set(raw_answers) <= asked | {spans_key(slot) for slot in texts}:
        raise _unknown()
    errors = errors_of(hit_type)
    details = {
        slot: detail_of(
            checked_spans(raw_answers.get(spans_key(slot), ""), marked.text, errors),
            marked,
        )
        for slot, marked in texts.items()
    }
    ratings = [
        _counted(item, question, details[question.slot], raw_answers)
        if question.scale.counted
        else _rating(item, question, raw_answers)
        for question in questions
    ]
    # The marks of an output are stored with the first answer about it.
    return [
        replace(rating, detail=details.pop(rating.slot, None)) for rating in ratings
    ]


def _counted(
    item: Item,
    question: Asked,
    detail: Mapping[str, Any],
    raw_answers: Mapping[str, str],
) -> Rating:
    # Without the page's script, errors cannot be marked, and the field is missing. That
    # is no rating of an output without errors.
    if spans_key(question.slot) not in raw_answers:
        raise _unanswered(item, question)
    value = span_score(detail[SPANS])
    return Rating(item.pk, question.criterion, value, f"{value:g}", question.slot)


def _rating(item: Item, question: Asked, raw_answers: Mapping[str, str]) -> Rating:
    raw = raw_answers.get(question.key, "").strip()
    if not raw and question.checkbox:
        raw = "0"  # An unchecked box sends no value.
    if not raw:
        raise _unanswered(item, question)
    value = question.scale.parse(raw)
    if question.scale.relative and item.data.get("standard_value"):
        # The rating is a ratio to 100, but this reference output has a different value.
        value = value * 100 / float(item.data["standard_value"])
    return Rating(item.pk, question.criterion, value, raw, question.slot)


def _unanswered(item: Item, question: Asked) -> GenieError:
    return GenieError(
        gettext("Please answer every question."),
        code="answer-missing",
        details={"item": item.key, "criterion": question.key},
    )


def _unknown() -> GenieError:
    return GenieError(
        gettext(
            "The page sent an answer to a question that is not in this HIT; reload the "
            "page."
        ),
        code="unknown-question",
    )


def plausible_seconds(
    active_seconds: float | None, wall_seconds: float
) -> float | None:
    """Limit a measured time to the time that passed on our clock."""
    if active_seconds is None or not math.isfinite(active_seconds):
        return None
    if active_seconds < 0:
        return None
    return min(active_seconds, max(0.0, wall_seconds))


def clean_remark(remark: str, limit: int = 2_000) -> str:
    """Remove control characters except line breaks; cut at `limit` characters."""
    # The two invisible joiners separate and join letters in Persian, Indian scripts and
    # emoji.
    kept = "".join(c for c in remark if c.isprintable() or c in "\n\t\u200d\u200c")
    return kept.strip()[:limit]
