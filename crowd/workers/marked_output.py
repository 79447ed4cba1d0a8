"""The output in which a HIT page lets errors be marked, and what it sends of them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crowd.hit_templates.errors import BELOW, Errors
from crowd.hits.models.campaign import HITType, Item
from crowd.hits.selectors.questions import (
    Marked,
    errors_of,
    marked_texts,
    spans_key,
)
from crowd.hits.selectors.wording import template_of

Categories = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True)
class Marks:
    """The text in which errors are marked, what they can be, and the marks as sent."""

    # under which they are checked
    key: str
    name: str
    text: str
    raw_answer: str
    severities: tuple[str, ...] = ()
    # a category as it is read, and what can be chosen: what is sent and what is read
    categories: Categories = ()
    missing: bool = False
    # whether errors were there before the worker came
    prefilled: bool = False


def marks_of(
    hit_type: HITType, item: Item, posted: Mapping[str, str], i: int
) -> dict[str, Marks]:
    """Give the texts of an item in which errors are marked, by slot."""
    texts = marked_texts(hit_type, item.data)
    if not texts:
        return {}
    errors = errors_of(hit_type)
    categories = _categories(errors, template_of(hit_type).labels)
    return {
        slot: Marks(
            key=spans_key(slot),
            name=marks_name(slot, i),
            text=json.dumps(marked.text),
            raw_answer=_raw_marks(marked, posted, marks_name(slot, i)),
            severities=errors.severities,
            categories=categories,
            missing=errors.missing,
            prefilled=bool(marked.prefilled),
        )
        for slot, marked in texts.items()
    }


def marks_name(slot: str, i: int) -> str:
    """Name the field of the marks in a slot of a page's item."""
    return f"spans-{i}-{slot}" if slot else f"spans-{i}"


def _categories(errors: Errors, labels: Mapping[str, str]) -> Categories:
    def read(name: str) -> str:
        last = name.rpartition(BELOW)[2]
        return labels.get(last, last)

    return tuple(
        (read(category), tuple((kind, read(kind)) for kind in kinds))
        for category, kinds in errors.by_category()
    )


def _raw_marks(marked: Marked, posted: Mapping[str, str], name: str) -> str:
    """Give marks as they were sent, or those with which the text comes."""
    raw = posted.get(name, as_sent(marked.prefilled or []))
    # a page without its script has no other way to say that something is missing
    severity = posted.get(f"{name}-missing", "")
    if not severity:
        return raw
    kind = posted.get(f"{name}-missing-category", "")
    try:
        spans = json.loads(raw or "[]")
        spans = [span for span in spans if "missing" not in span]
    except (ValueError, TypeError, RecursionError):
        return raw
    said = {"missing": True, "severity": severity}
    return json.dumps([*spans, {**said, "category": kind} if kind else said])


def as_sent(spans: Iterable[Mapping[str, Any]]) -> str:
    """Write stored marks as a page sends them; nothing where there are none."""
    keys = ("start", "end", "missing", "severity", "category")
    sent = [{key: span[key] for key in keys if key in span} for span in spans]
    return json.dumps(sent) if sent else ""
