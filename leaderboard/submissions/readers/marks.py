"""Marked errors of a row, in the format of our pages or of other tools."""

from typing import Any

from leaderboard.submissions.readers.walk import Pairs, is_text

# the end of the second pair is inclusive, as in Pearmut and Appraise
_ENDS = (("start", "end", 0), ("start_i", "end_i", 1))


def marks_of(value: Any) -> list[dict[str, Any]] | None:
    """Return a list of marks; None if the value is none.

    Examples
    --------
    >>> from leaderboard.submissions.readers.walk import Number
    >>> marks_of([Pairs([("start_i", Number("0")), ("end_i", Number("2")),
    ...                  ("severity", "minor")])])
    [{'start': 0, 'end': 3, 'severity': 'minor'}]
    >>> marks_of([Pairs([("start_i", "missing"), ("severity", "major")])])
    [{'missing': True, 'severity': 'major'}]
    >>> marks_of("none") is None
    True
    """
    if not isinstance(value, list) or isinstance(value, Pairs):
        return None
    marks = [_mark(dict(one)) if isinstance(one, Pairs) else None for one in value]
    return None if None in marks else [mark for mark in marks if mark]


def _mark(one: dict[str, Any]) -> dict[str, Any] | None:
    category = one.get("category") or one.get("error_type")
    if isinstance(category, list):
        category = "/".join(str(level) for level in category)
    said = {"severity": str(one.get("severity", ""))}
    if category and is_text(category):
        said["category"] = category
    if one.get("missing") is True or one.get("start_i") == "missing":
        return {"missing": True, **said}
    for first, last, more in _ENDS:
        start, end = (getattr(one.get(name), "whole", None) for name in (first, last))
        if start is not None and end is not None:
            return {"start": start, "end": end + more, **said}
    return None
