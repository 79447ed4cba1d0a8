"""What a judge answered: read strictly, or said why it cannot be used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from crowd.scales.base import Scale
from genie.lib.errors import GenieError

_LONGEST = 100_000
REASON_CHARACTERS = 2_000
# what no database of ours can store
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Leave out what cannot be stored of a text.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> storable("a" + chr(0) + "b")
    'ab'
    """
    return _UNSTORABLE.sub("", text)


def read(
    text: str, criteria: Iterable[str], scale: type[Scale]
) -> dict[str, tuple[float, str]]:
    """Read an answer to all criteria of a question.

    Parameters
    ----------
    text : str
        As it came: never trusted.
    criteria : iterable of str
    scale : type

    Returns
    -------
    dict
        Criterion to its rating and the reason given.

    Raises
    ------
    ValueError
        With why it is invalid, in few words.

    Examples
    --------
    >>> from crowd.scales.find import all_scales
    >>> scale = all_scales()["likert-5"]
    >>> read('{"overall": {"reason": "short", "answer": "Agree"}}', ["overall"], scale)
    {'overall': (0.75, 'short')}
    >>> read('{"overall": {"answer": 10}}', ["overall"], scale)
    Traceback (most recent call last):
    ValueError: off the scale
    """
    found = _object(text)
    return {criterion: _one(found.get(criterion), scale) for criterion in criteria}


def _object(text: str) -> dict[str, Any]:
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first or len(text) > _LONGEST:
        raise ValueError("no JSON")
    try:
        found = json.loads(text[first : last + 1], parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("broken JSON") from None
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
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
        # a choice is made by what people read: what stands for it is no answer
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
