"""Whether workers were blind to what should not count, in lines for pages and the API."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.selectors.sides import effect_of_place, effect_of_side
from leaderboard.stats.blinding.effects import Effect
from leaderboard.tasks.models import Task

_CAUSES = {
    "order": "From a worker’s first rating to their last",
    "length": "A text with a tenth more words",
    "style": "How much of the rest of the variance a text’s style foretells",
}
# Stored for twice as many words, which is further than texts of one input differ.
_TENTH = math.log2(1.1)
_SIDE = "An output shown first rather than second"
_SIDES = "percentage points"
_PLACE = "One place further on a page of several outputs"


@dataclass(frozen=True)
class Cause:
    """What one cause does to ratings, with its 95 % interval.

    `unit` is points of the score, percent of it, percentage points of preferences, or
    percent of variance.
    """

    cause: str
    words: str
    estimate: float
    low: float | None
    high: float | None
    unit: str

    @property
    def found(self) -> bool:
        """Tell whether the interval leaves out that it does nothing."""
        known = self.low is not None and self.high is not None
        return known and ((self.low or 0) > 0 or (self.high or 0) < 0)

    @property
    def sentence(self) -> str:
        """Say it in a line, for cards."""
        low, high = (
            "unknown" if end is None else f"{end:.1f}" for end in (self.low, self.high)
        )
        return f"{self.words}: {self.estimate:.1f} {self.unit}, 95 % interval {low} to {high}"


def causes_of(stored: Mapping[str, Any] | None) -> list[Cause]:
    """Read what a board's fit keeps of order, length and style."""
    stored = stored or {}
    return [
        Cause(
            name,
            words,
            **_told(name, stored[name], stored["unit"]),
            unit="percent of variance" if name == "style" else stored["unit"],
        )
        for name, words in _CAUSES.items()
        if stored.get(name) and stored[name]["estimate"] is not None
    ]


def _told(name: str, ends: Mapping[str, Any], unit: str) -> dict[str, Any]:
    """Give estimate, low and high as they are told; only length is told for less."""
    if name != "length":
        return dict(ends)
    ratios = unit == "percent"
    return {key: None if x is None else _a_tenth(x, ratios) for key, x in ends.items()}


def _a_tenth(doubled: float, ratios: bool) -> float:
    """Turn what twice as many words do into what a tenth more do."""
    if ratios:
        return 100 * (math.pow(1 + doubled / 100, _TENTH) - 1)
    return _TENTH * doubled


def places_of(task: Task) -> list[Cause]:
    """Tell what the place on a page does in comparisons and joint evaluations."""
    found = []
    side = effect_of_side(task)
    if side is not None:
        found.append(_cause("side", _SIDE, [100 * x for x in _of(side)], _SIDES))
    for criterion, (one, unit) in effect_of_place(task).items():
        words, ends = f"{_PLACE} ({criterion})", _of(one)
        if unit.logarithmic:
            ends = [100 * math.expm1(min(end, 50.0)) for end in ends]
        named = "percent" if unit.logarithmic else "points"
        found.append(_cause("place", words, ends, named))
    return found


def blinding_sentences(task: Task) -> list[str]:
    """Say in sentences how far workers were blind, for cards; empty if nobody knows."""
    fit = current_fit(task)
    said = []
    for criterion, stored in (fit.evidence if fit else {}).items():
        for one in causes_of(stored.get("blinding")):
            said.append(f"{criterion}: {one.sentence}")
    return said + [one.sentence for one in places_of(task)]


def _of(one: Effect) -> list[float]:
    return [one.estimate, one.low, one.high]


def _cause(cause: str, words: str, ends: list[float], unit: str) -> Cause:
    return Cause(cause, words, ends[0], ends[1], ends[2], unit)
