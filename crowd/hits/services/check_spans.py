"""Check the spans that a worker marked: inside the text, apart, with a severity."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from genie.lib.errors import GenieError

SEVERITIES = ("minor", "major")
MOST_SPANS = 200
MOST_CHARACTERS = 20_000
NAMES = {"start", "end", "severity"}

Span = dict[str, int | str]


def checked_spans(raw: str, text: str) -> list[Span]:
    """Read marked spans; offsets count the text's code points, the end is outside.

    Raises
    ------
    GenieError
        ``unusable-spans`` for anything that the page's own marks cannot be.
    """
    if not raw.strip():
        return []
    sent = _loaded(raw)
    if not isinstance(sent, list) or len(sent) > MOST_SPANS:
        raise _refusal("they are not a list of marks")
    spans = sorted((_span(mark, len(text)) for mark in sent), key=lambda s: s["start"])
    for before, after in pairwise(spans):
        if int(after["start"]) < int(before["end"]):
            raise _refusal("two of them overlap")
    return spans


def _loaded(raw: str) -> Any:
    if len(raw) > MOST_CHARACTERS:
        raise _refusal("there are too many")
    try:
        return json.loads(raw)
    # JSON that is nested deeply enough exhausts the stack instead of being wrong.
    except (ValueError, RecursionError):
        raise _refusal("they cannot be read") from None


def _span(mark: Any, n: int) -> Span:
    if not isinstance(mark, dict) or set(mark) != NAMES:
        raise _refusal("one of them lacks its start, end or severity")
    start, end, severity = mark["start"], mark["end"], mark["severity"]
    # `type` and not `isinstance`: True would pass for an integer.
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= n:
        raise _refusal("one of them is not inside the text")
    if severity not in SEVERITIES:
        raise _refusal("one of them is neither minor nor major")
    return {"start": start, "end": end, "severity": severity}


def _refusal(why: str) -> GenieError:
    return GenieError(
        f"The error marks are not valid: {why}. Reload the page.",
        code="unusable-spans",
    )
