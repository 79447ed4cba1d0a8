"""Strict parsing of judges' answers."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crowd.hit_templates.form import span_score
from crowd.scales.base import Scale
from genie.lib.errors import GenieError
from leaderboard.judges.shape import ERRORS, WHOLE, Mark, Shape, marks_of

_LONGEST = 100_000
REASON_CHARACTERS = 2_000
# characters that our databases cannot store
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class Said:
    """An answer about one output, or about the two that it compares.

    `values` and `reasons` are by criterion. `marks` come from `shape.marks_of`; None if
    none were asked for.
    """

    values: Mapping[str, float]
    reasons: Mapping[str, str] = field(default_factory=dict)
    marks: list[Mark] | None = None


def storable(text: str) -> str:
    """Remove characters that the database cannot store.

    Examples
    --------
    >>> storable("a" + chr(0) + "b")
    'ab'
    """
    return _UNSTORABLE.sub("", text)


def read(
    text: str,
    criteria: Iterable[str],
    scale: type[Scale],
    shape: Shape = WHOLE,
    outputs: Mapping[str, str] | None = None,
) -> dict[str, Said]:
    """Parse an untrusted answer to all criteria, about all outputs or not at all.

    `outputs`, needed if errors are marked, and the result are by slot (``""`` without
    slots). Raises ValueError with a short reason if the answer is invalid.

    Examples
    --------
    >>> from crowd.scales.base import all_scales
    >>> scale = all_scales()["likert-5"]
    >>> read('{"overall": {"reason": "short", "answer": "Agree"}}', ["overall"], scale)
    {'': Said(values={'overall': 0.75}, reasons={'overall': 'short'}, marks=None)}
    >>> read('{"overall": {"answer": 10}}', ["overall"], scale)
    Traceback (most recent call last):
    ValueError: off the scale
    """
    found, criteria = _object(text), [*criteria]
    about = {slot: found.get(slot) for slot in shape.slots} or {"": found}
    return {
        slot: _of_output(said, criteria, scale, shape, (outputs or {}).get(slot, ""))
        for slot, said in about.items()
    }


def _of_output(
    found: Any, criteria: list[str], scale: type[Scale], shape: Shape, output: str
) -> Said:
    if not isinstance(found, dict):
        raise ValueError("an output is left out")
    marks = None
    if shape.errors:
        marks = marks_of(found.get(ERRORS), output, shape.errors)
        for mark in marks:
            mark["reason"] = storable(mark["reason"])
    if scale.counted:
        return Said(dict.fromkeys(criteria, span_score(marks or [])), {}, marks)
    told = {name: _one(found.get(name), scale) for name in criteria}
    return Said(
        {name: value for name, (value, _) in told.items()},
        {name: reason for name, (_, reason) in told.items() if reason},
        marks,
    )


def _object(text: str) -> dict[str, Any]:
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first or len(text) > _LONGEST:
        raise ValueError("no JSON")
    try:
        found = json.loads(text[first : last + 1], parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("broken JSON") from None
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return found


def _refuse(_: str) -> None:
    raise ValueError("not a number")


def _one(found: Any, scale: type[Scale]) -> tuple[float, str]:
    if not isinstance(found, dict) or "answer" not in found:
        raise ValueError("a question is not answered")
    reason = found.get("reason")
    said = storable(reason)[:REASON_CHARACTERS] if isinstance(reason, str) else ""
    return _rating(found["answer"], scale), said


def _rating(answer: Any, scale: type[Scale]) -> float:
    if isinstance(answer, str):
        given = answer.strip().casefold()
        for option in scale.options:
            if given in {option.label.casefold(), option.sent.casefold() or None}:
                return option.value
        # choices are given by their label; internal values are invalid
        raw = "" if scale.options else answer.strip()
    elif isinstance(answer, bool) or not isinstance(answer, int | float):
        raw = ""
    else:
        raw = "" if scale.options else _digits(answer)
    try:
        return scale.parse(raw)
    except GenieError:
        raise ValueError("off the scale") from None


def _digits(number: float) -> str:
    # as people type it: no 1e2
    return f"{number:.6f}".rstrip("0").rstrip(".")
