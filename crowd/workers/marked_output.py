import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crowd.hit_templates.errors import BELOW, Errors
from crowd.hits.models import HITType, Item
from crowd.hits.selectors import Marked, errors_of, marked_texts, spans_key, template_of

Categories = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True)
class Marks:
    # the key under which they are checked
    key: str
    name: str
    text: str
    raw_answer: str
    severities: tuple[str, ...] = ()
    # category -> the choices: form value and label
    categories: Categories = ()
    missing: bool = False
    # whether errors were marked before the worker came
    prefilled: bool = False


def marks_of(
    hit_type: HITType, item: Item, posted: Mapping[str, str], i: int
) -> dict[str, Marks]:
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
    raw = posted.get(name, as_sent(marked.prefilled or []))
    # without its script, a page has no other way to report an omission
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
    """Return stored marks as a page sends them; empty if there are none."""
    keys = ("start", "end", "missing", "severity", "category")
    sent = [{key: span[key] for key in keys if key in span} for span in spans]
    return json.dumps(sent) if sent else ""
