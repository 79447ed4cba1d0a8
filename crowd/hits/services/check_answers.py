import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext

from crowd.hit_templates.form import Errors, span_score
from crowd.hits.models import Assignment, HITType, Item, Telemetry
from crowd.hits.selectors import (
    SPANS,
    Asked,
    Marked,
    errors_of,
    marked_texts,
    questions_about,
    spans_key,
)
from genie.lib.errors import GenieError

# Check the marked errors that a page sent, and compare them with the prefilled ones.
MOST_SPANS = 200
MOST_CHARACTERS = 40_000
PLACE = {"start", "end"}
# A worker's changes to prefilled marks.
KEPT, CHANGED, ADDED = "kept", "changed", "added"

Span = dict[str, Any]


def checked_spans(raw: str, text: str, errors: Errors) -> list[Span]:
    """Read marked spans; offsets count code points, the end is exclusive.

    Raises
    ------
    GenieError
        ``unusable-spans`` for anything the page could not have sent;
        ``answer-missing`` if an error has no category.
    """
    if not raw.strip():
        return []
    sent = _load_answers(raw)
    if not isinstance(sent, list) or len(sent) > MOST_SPANS:
        raise _unusable("they are not a list of marks")
    spans = [_span(mark, len(text), errors) for mark in sent]
    placed = sorted((s for s in spans if "start" in s), key=lambda s: s["start"])
    for before, after in pairwise(placed):
        if after["start"] < before["end"]:
            raise _unusable("two of them overlap")
    missing = [span for span in spans if "missing" in span]
    if len(missing) > 1:
        raise _unusable("two of them say that something is missing")
    return [*placed, *missing]


def detail_of(spans: Sequence[Span], marked: Marked) -> dict[str, Any]:
    """Return what is stored of marks: the marks, and changes to prefilled ones.

    Each mark is `kept`, `changed` (it overlaps a different prefilled one) or `added`;
    removed ones are listed.

    Examples
    --------
    >>> before = {"start": 0, "end": 3, "severity": "minor"}
    >>> detail_of([], Marked("Cat", [before], "xcomet"))["removed"] == [before]
    True
    """
    if marked.prefilled is None:
        return {"spans": list(spans)}
    before = [dict(span) for span in marked.prefilled]
    # Kept ones first: marks that overlap them as well are new.
    left = [span for span in before if span not in spans]
    told = []
    for span in spans:
        touched = [one for one in left if _meet(one, span)]
        left = [one for one in left if one not in touched]
        if span in before:
            told.append({**span, "was": KEPT, "by": marked.by})
        elif touched:
            told.append({**span, "was": CHANGED, "by": marked.by})
        else:
            told.append({**span, "was": ADDED})
    return {"spans": told, "removed": left, "prefilled_by": marked.by}


def _meet(one: Span, other: Span) -> bool:
    if "missing" in one or "missing" in other:
        return "missing" in one and "missing" in other
    return bool(one["start"] < other["end"] and other["start"] < one["end"])


def _load_answers(raw: str) -> Any:
    if len(raw) > MOST_CHARACTERS:
        raise _unusable("there are too many")
    try:
        return json.loads(raw)
    # Deeply nested JSON exhausts the stack instead of being invalid.
    except (ValueError, RecursionError):
        raise _unusable("they cannot be read") from None


def _span(mark: Any, n: int, errors: Errors) -> Span:
    place = _place(mark, n, errors) if isinstance(mark, dict) else None
    if place is None or set(mark) - set(place) - {"severity", "category"}:
        raise _unusable("one of them lacks its start, end or severity")
    severity, kind = mark.get("severity"), mark.get("category", "")
    if severity not in errors.severities:
        raise _unusable("one of them is neither " + " nor ".join(errors.severities))
    span = {**place, "severity": severity}
    if errors.kinds and not kind:
        raise GenieError(
            gettext("Please choose a category for each marked error."),
            code="answer-missing",
        )
    if kind:
        if kind not in errors.kinds:
            raise _unusable("one of them has an unknown category")
        span["category"] = kind
    return errors.add_weight(span)


def _place(mark: dict[str, Any], n: int, errors: Errors) -> Span | None:
    if mark.get("missing") is True and errors.missing and not PLACE & set(mark):
        return {"missing": True}
    if not set(mark) >= PLACE:
        return None
    start, end = mark["start"], mark["end"]
    # `type` and not `isinstance`: True would pass for an integer.
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= n:
        raise _unusable("one of them is not inside the text")
    return {"start": start, "end": end}


def _unusable(why: str) -> GenieError:
    return GenieError(
        gettext("The error marks are not valid: %(why)s. Reload the page.")
        % {"why": why},
        code="unusable-spans",
    )


Answers = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class CheckedRating:
    item_pk: int
    criterion: str
    value: float
    raw: str
    slot: str = ""
    detail: dict[str, Any] | None = None


def parse_ratings(assignment: Assignment, answers: Answers) -> list[CheckedRating]:
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
) -> list[CheckedRating]:
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
        _count_rating(item, question, details[question.slot], raw_answers)
        if question.scale.counted
        else _rating(item, question, raw_answers)
        for question in questions
    ]
    # The marks of an output are stored with the first answer about it.
    return [
        replace(rating, detail=details.pop(rating.slot, None)) for rating in ratings
    ]


def _count_rating(
    item: Item,
    question: Asked,
    detail: Mapping[str, Any],
    raw_answers: Mapping[str, str],
) -> CheckedRating:
    # Without the page's script, errors cannot be marked, and the field is missing. That
    # is no rating of an output without errors.
    if spans_key(question.slot) not in raw_answers:
        raise _unanswered_error(item, question)
    value = span_score(detail[SPANS])
    return CheckedRating(
        item.pk, question.criterion, value, f"{value:g}", question.slot
    )


def _rating(
    item: Item, question: Asked, raw_answers: Mapping[str, str]
) -> CheckedRating:
    raw = raw_answers.get(question.key, "").strip()
    if not raw and question.checkbox:
        raw = "0"  # An unchecked box sends no value.
    if not raw:
        raise _unanswered_error(item, question)
    value = question.scale.parse(raw)
    if question.scale.relative and item.data.get("standard_value"):
        # The rating is a ratio to 100, but this reference output has a different value.
        value = value * 100 / float(item.data["standard_value"])
    return CheckedRating(item.pk, question.criterion, value, raw, question.slot)


def _unanswered_error(item: Item, question: Asked) -> GenieError:
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


# Signals from a page's script: hostile input, limited to what is possible.

# Six numbers and their names are shorter.
MOST_OF_SIGNALS = 300
MOST = 9_999
COUNTS = ("n_changes", "n_focus_losses", "n_copies", "n_pastes")
FIRST = "first_change_seconds"


@dataclass(frozen=True)
class SentTelemetry:
    counts: Mapping[str, int] | None = None
    first_change_seconds: int | None = None
    canary: bool = False


def read_telemetry(assignment: Assignment, posted: Mapping[str, str]) -> SentTelemetry:
    """Read the signals of a page; values its script cannot have sent are ignored."""
    sent = _load_telemetry(posted.get("signals", ""))
    canary = said_the_word(assignment, posted)
    if sent is None:
        return SentTelemetry(canary=canary)
    first = sent[FIRST]
    return SentTelemetry(
        {name: min(sent[name], MOST) for name in COUNTS},
        None if first is None else int(first),
        canary,
    )


def keep_telemetry(
    assignment: Assignment, sent: SentTelemetry, wall_seconds: float
) -> None:
    """Store the signals, if any; callers open the transaction.

    Times are limited to the time that passed on our clock.
    """
    if sent.counts is None and not sent.canary:
        return
    first = sent.first_change_seconds
    Telemetry.objects.create(
        assignment=assignment,
        first_change_seconds=None
        if first is None
        else min(first, max(0, int(wall_seconds))),
        canary=sent.canary,
        **(sent.counts or {}),
    )


def canary_word(assignment: Assignment) -> str:
    return salted_hmac("crowd.canary", str(assignment.pk)).hexdigest()[:8]


def said_the_word(assignment: Assignment, posted: Mapping[str, str]) -> bool:
    said = f"{posted.get('assistant', '')[:200]} {posted.get('remark', '')[:2_000]}"
    word = canary_word(assignment)
    return any(
        constant_time_compare(word, part.strip(".,:;'\"!()"))
        for part in said.lower().split()
    )


def _load_telemetry(raw: str) -> dict[str, Any] | None:
    if not raw or len(raw) > MOST_OF_SIGNALS:
        return None
    try:
        sent = json.loads(raw)
    # Deeply nested JSON exhausts the stack instead of being invalid.
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict) or set(sent) != {*COUNTS, FIRST}:
        return None
    first = sent[FIRST]
    usable = all(_is_count(sent[name]) for name in COUNTS)
    return sent if usable and (first is None or _is_count(first)) else None


def _is_count(value: Any) -> bool:
    # `type` and not `isinstance`: True would pass for an integer.
    return type(value) is int and value >= 0


def forget_before(limit: datetime) -> int:
    return int(Telemetry.objects.filter(assignment__submitted_at__lt=limit).delete()[0])
