"""Whether ratings agree with a known answer, for test questions and qualification tests.

`expected` says what the known answer is: `slot` names the output that must be preferred,
`not_best` the one that must not be rated best; otherwise the text is good or bad, and
`threshold` replaces the scale's own where it does not fit. `criteria` names those that
can be marked: a fluent text on the wrong subject is bad on relevance only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

MIDDLE = 0.5
FIRST_SLOT = "A"


class Rated(Protocol):
    """One rating on one criterion."""

    @property
    def criterion(self) -> str: ...
    @property
    def slot(self) -> str: ...
    @property
    def value(self) -> float: ...


def agrees(
    ratings: Iterable[Rated],
    expected: Mapping[str, Any],
    *,
    good: bool,
    threshold: float,
) -> bool:
    """Tell whether the ratings are right on more than half of the criteria marked.

    Each criterion is marked by itself. Their mean would let one criterion outvote
    another that is the only one with a known answer.

    Examples
    --------
    >>> from types import SimpleNamespace as Rating
    >>> answers = [Rating(criterion="relevance", slot="", value=0.0),
    ...            Rating(criterion="fluency", slot="", value=1.0)]
    >>> agrees(answers, {"criteria": ["relevance"]}, good=False, threshold=0.5)
    True
    """
    marks = list(marks_of(ratings, expected, good=good, threshold=threshold).values())
    # Half of the criteria is not enough: chance alone gets there.
    return 2 * sum(marks) > len(marks)


def marks_of(
    ratings: Iterable[Rated],
    expected: Mapping[str, Any],
    *,
    good: bool,
    threshold: float,
) -> dict[str, bool]:
    """Mark each criterion that can be marked by itself.

    Examples
    --------
    >>> from types import SimpleNamespace as Rating
    >>> answers = [Rating(criterion="relevance", slot="", value=0.0),
    ...            Rating(criterion="fluency", slot="", value=1.0)]
    >>> marks_of(answers, {}, good=False, threshold=0.5)
    {'relevance': True, 'fluency': False}
    """
    marked = expected.get("criteria")
    by_criterion: dict[str, dict[str, float]] = defaultdict(dict)
    for rating in ratings:
        if not marked or rating.criterion in marked:
            by_criterion[rating.criterion][rating.slot] = rating.value
    line = float(expected.get("threshold", threshold))
    return {
        criterion: _is_right(values, expected, good, line)
        for criterion, values in by_criterion.items()
    }


def _is_right(
    values: Mapping[str, float], expected: Mapping[str, Any], good: bool, line: float
) -> bool:
    """Mark the ratings on one criterion, which are one for each slot."""
    if "not_best" in expected:
        # a rating that none exceeds is the best, also beside equal ones
        wrong = values.get(expected["not_best"])
        return wrong is not None and wrong < max(values.values())
    [value] = values.values()
    if "slot" in expected:
        # values speak for the first slot; a tie prefers nobody
        return value > MIDDLE if expected["slot"] == FIRST_SLOT else value < MIDDLE
    return (value > line) is good
