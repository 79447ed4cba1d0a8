"""One printed number, the number computed here, and the verdict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Value = float | str


class Verdict(StrEnum):
    HOLDS = "holds"
    NOT_MET = "not met"  # with an explanation
    FAILS = "FAILS"  # without one
    OURS_ONLY = "ours only"
    NO_DATA = "no data"


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Parameters
    ----------
    paper : float, str or None
        The printed number; None if there is none.
    ours : float, str or None
        The number computed here; None if it cannot be computed from the data.
    tolerance : float, (float, float) or None
        Allowed distance between the two, or the range in which the printed number must
        lie. Texts must be equal.
    why : str
        Why the printed number cannot be reproduced, or what ours leaves out.
    must_hold : bool
        False for printed numbers that cannot be reproduced; they cannot fail.
    digits : int or None
        Decimals to show; None for three significant figures.
    also : mapping
        More figures of ours, by their names.
    source : str
        "published", or "computed" by others than the authors.
    """

    row: str
    column: str
    paper: Value | None
    ours: Value | None
    tolerance: float | tuple[float, float] | None = None
    why: str = ""
    must_hold: bool = True
    digits: int | None = 2
    also: Mapping[str, float] = field(default_factory=dict)
    source: str = "published"

    @property
    def verdict(self) -> Verdict:
        if self.ours is None:
            return Verdict.NO_DATA
        if self.paper is None:
            return Verdict.OURS_ONLY
        if self._agrees():
            return Verdict.HOLDS
        return Verdict.FAILS if self.must_hold else Verdict.NOT_MET

    def _agrees(self) -> bool:
        if isinstance(self.paper, str) or isinstance(self.ours, str):
            return self.paper == self.ours
        accepted = self.accepted
        if self.paper is None or accepted is None:
            return self.paper == self.ours
        # both comparisons are false if ours is NaN
        return accepted[0] <= self.paper <= accepted[1]

    @property
    def accepted(self) -> tuple[float, float] | None:
        """Range of printed numbers that agree with ours; None without a tolerance."""
        if self.tolerance is None or isinstance(self.ours, str) or self.ours is None:
            return None
        if isinstance(self.tolerance, tuple):
            return self.tolerance
        slack = self.tolerance + 1e-9  # .005 is slightly more in binary
        return self.ours - slack, self.ours + slack

    def to_dict(self) -> dict[str, Any]:
        accepted = self.accepted
        return {
            "row": self.row,
            "column": self.column,
            "paper": _plain(self.paper),
            "ours": _plain(self.ours),
            "accepted": None if accepted is None else [_plain(end) for end in accepted],
            "verdict": self.verdict.value,
            "source": self.source,
            "must_hold": self.must_hold,
            "why": self.why,
            "also": {name: _plain(value) for name, value in self.also.items()},
        }


def _plain(value: Value | None) -> Value | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def printed(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def shown(value: Value, digits: int | None) -> str:
    """Return a value of ours as text; without digits, three significant figures."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return "--"
    return f"{value:.3g}" if digits is None else f"{value:.{digits}f}"
