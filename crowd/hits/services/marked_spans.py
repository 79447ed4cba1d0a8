"""Check the marked errors that a page sent, and compare them with the prefilled ones."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext

from crowd.hit_templates.errors import Errors
from crowd.hits.selectors import Marked
from genie.lib.errors import GenieError

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
    sent = _loaded(raw)
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


def _loaded(raw: str) -> Any:
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
    return errors.weighed(span)


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
