"""An estimate with the ends of its interval; pure."""

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval, infinite or NaN if unknown.

    low <= estimate <= high for every method but BCa, whose ends may both be on one side
    in very small, very skewed samples.

    Examples
    --------
    >>> f"{Interval(0.75, 0.72, 0.78):.1f}", Interval(0, -math.inf, 1.0).flat("mean")
    ('0.8 [0.7, 0.8]', {'mean': 0.0, 'low': None, 'high': 1.0})
    """

    estimate: float
    low: float
    high: float

    def __format__(self, digits: str) -> str:
        return f"{self.estimate:{digits}} [{self.low:{digits}}, {self.high:{digits}}]"

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def ends(self) -> tuple[float, float] | None:
        known = math.isfinite(self.low) and math.isfinite(self.high)
        return (self.low, self.high) if known else None

    def flat(
        self, name: str = "estimate", low: str = "low", high: str = "high"
    ) -> dict[str, float | None]:
        """Return the numbers for JSON, which has no infinity: unknown ones are None."""
        numbers = {name: self.estimate, low: self.low, high: self.high}
        return {
            key: float(number) if math.isfinite(number) else None
            for key, number in numbers.items()
        }


def flat(record: Any, **names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of a record; an interval's numbers are in its place.

    `names` has those of an interval; by default that of its field, "low" and "high".
    """
    found: dict[str, Any] = {}
    for field, value in vars(record).items():
        of_interval = isinstance(value, Interval)
        found |= (
            value.flat(*names.get(field, [field])) if of_interval else {field: value}
        )
    return found
