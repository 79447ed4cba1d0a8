"""Which answer to a test question is right.

A placement's `expected` holds what its polarity does not say: `threshold` where the
scale's own does not fit, `slot` for the output that must be preferred, `not_best` for
the one that must not be rated best, `criteria` where only some of them can be marked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quality.models.test_question import Polarity

MIDDLE = 0.5
FIRST_SLOT = "A"


@dataclass(frozen=True)
class Marked:
    """One answer to a test question."""

    criterion: str
    slot: str
    value: float


def is_right(
    answers: Sequence[Marked],
    *,
    polarity: str,
    expected: Mapping[str, Any],
    threshold: float,
) -> bool:
    """Tell whether one worker's answers to one test question are right."""
    asked = set(expected.get("criteria", ()))
    counted = [one for one in answers if not asked or one.criterion in asked]
    if "not_best" in expected:
        return _is_not_best(counted, expected["not_best"])
    mean = sum(one.value for one in counted) / len(counted)
    if "slot" in expected:
        # values speak for the first slot; a tie prefers nobody
        prefers_first = mean > MIDDLE
        prefers_other = mean < MIDDLE
        return prefers_first if expected["slot"] == FIRST_SLOT else prefers_other
    good = mean > float(expected.get("threshold", threshold))
    return good == (polarity == Polarity.POSITIVE)


def _is_not_best(answers: Sequence[Marked], slot: str) -> bool:
    """Tell whether another one is better: a rating that none exceeds is the best."""
    by_criterion: dict[str, dict[str, float]] = defaultdict(dict)
    for one in answers:
        by_criterion[one.criterion][one.slot] = one.value
    marks = [
        values[slot] < max(values.values())
        for values in by_criterion.values()
        if slot in values
    ]
    return bool(marks) and 2 * sum(marks) > len(marks)
