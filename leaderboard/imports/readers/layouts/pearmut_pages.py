"""The lines of Pearmut's output: submitted documents and their roles."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from leaderboard.imports.readers.judgments import Problem, Role
from leaderboard.imports.readers.sources import Source

# Prefixes of document numbers that are not ratings.
_ASIDE = {
    "welcome_": Role.TUTORIAL,
    "goodbye_": Role.FILL_UP,
    "random_": Role.PLANTED,
}


@dataclass
class Page:
    line: int
    record: Mapping[str, Any]
    role: Role
    at: float = math.nan
    seconds: float = math.nan

    @property
    def key(self) -> tuple[str, str]:
        """Equal for a document that is submitted again."""
        return str(self.record["user_id"]), str(self.record["item_i"])


def is_output(source: Source) -> bool:
    """Check whether a file's first line is a submitted document.

    Examples
    --------
    >>> is_output(Source("a.jsonl", b'{"user_id": "u", "item_i": 0, "annotation": []}'))
    True
    """
    if source.ending not in ("jsonl", "json"):
        return False
    (first, *_) = source.lines(1) or [""]
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        # a long line, whose end is not seen
        return first.startswith('{"annotation": [') and '"error_spans"' in first
    return isinstance(record, dict) and {"user_id", "item_i", "annotation"} <= set(
        record
    )


def pages_of(
    source: Source, info: Mapping[str, Any], problems: list[Problem]
) -> list[Page]:
    """Read all lines; of a document submitted again, the last counts.

    A problem is added for each line that is no document.

    Examples
    --------
    >>> line = b'{"user_id": "u", "item_i": "welcome_0", "annotation": []}'
    >>> pages_of(Source("a.jsonl", line), {}, [])[0].role
    <Role.TUTORIAL: 'tutorial'>
    """
    pages: dict[tuple[str, str], Page] = {}
    listed = []
    for line, record in source.objects():
        needed = ("user_id", "item_i", "annotation")
        missing = [k for k in needed if not isinstance(record, dict) or k not in record]
        if missing:
            what = (
                f"It has no {missing[0]}: the line is no document that was submitted."
            )
            problems.append(Problem(source.name, line, missing[0], what))
            continue
        page = Page(line, record, _role(record, info))
        page.at, page.seconds = _times(record)
        if page.key in pages:
            pages[page.key].role = Role.SUPERSEDED
        pages[page.key] = page
        listed.append(page)
    return listed


def _role(record: Mapping[str, Any], info: Mapping[str, Any]) -> Role:
    number = str(record["item_i"])
    for beginning, role in _ASIDE.items():
        if number.startswith(beginning):
            return role
    return Role.NAMES_SHOWN if info.get("show_model_names") else Role.JUDGMENT


def _times(record: Mapping[str, Any]) -> tuple[float, float]:
    actions = record.get("actions")
    actions = actions if isinstance(actions, list) else []
    times = [
        a["time"] for a in actions if isinstance(a, dict) and is_number(a.get("time"))
    ]
    if not times:
        return math.nan, math.nan
    return float(times[-1]), float(times[-1] - times[0])


def is_number(value: object) -> TypeGuard[float]:
    """Check for a JSON number; True and False are none.

    Examples
    --------
    >>> is_number(3), is_number(True), is_number("3")
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value)
