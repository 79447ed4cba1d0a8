"""Round ticks for any range, and places along it."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A range from `low` to `high` (metric units), drawn from `start` to `end` (SVG units)."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> str:
        """Return the place of a value; values outside are drawn at the nearer end."""
        inside = min(max(value, self.low), self.high)
        part = (inside - self.low) / (self.high - self.low)
        return f"{self.start + part * (self.end - self.start):.1f}"


def scale_over(values: list[float], start: float, end: float) -> Scale:
    """Return a scale with about five round ticks around all values.

    Examples
    --------
    >>> scale_over([0.31, 0.48], 0, 100).ticks
    (0.3, 0.35, 0.4, 0.45, 0.5)
    >>> scale_over([7.0], 0, 100).at(7.0)
    '50.0'
    """
    low, high = min(values), max(values)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 1, high + 1
    step = _step((high - low) / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # rounded as decimal text, because 3 * 0.1 is 0.30000000000000004
    ticks = tuple(float(f"{step * k:.10g}") for k in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def _step(rough: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(rough))
    for part in (1.0, 2.0, 2.5, 5.0):
        if part * power >= rough * (1 - 1e-9):
            return part * power
    return 10 * power
