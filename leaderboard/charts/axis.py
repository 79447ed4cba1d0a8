"""A shared scale: values to places along a column of charts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

_STEPS = (1.0, 2.0, 5.0)
_MOST_GAPS = 5


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high` with round ticks; places are percentages of the width."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> str:
        """Return the place of a value; values outside are drawn at the nearer end."""
        inside = min(max(value, self.low), self.high)
        percent = 100 * (inside - self.low) / (self.high - self.low)
        # a tenth of a percent is less than a pixel
        return f"{round(percent, 1):g}%"


def axis_over(
    low: float, high: float, *, floor: float = 0.0, ceiling: float = 100.0
) -> Axis:
    """Return the smallest axis with a few round gaps that includes low and high."""
    if high - low < 1:
        # space around a single value, within the range of scores
        low, high = max(low - 0.5, min(low, floor)), min(high + 0.5, max(high, ceiling))
    step = _step(low, high)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = tuple(step * k for k in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def _step(low: float, high: float) -> float:
    return next(
        step
        for step in _steps()
        if math.ceil(high / step) - math.floor(low / step) <= _MOST_GAPS
    )


def _steps() -> Iterator[float]:
    """Yield 1, 2 and 5 times each power of ten: easily readable steps."""
    return (part * 10.0**power for power in count() for part in _STEPS)


def label(tick: float) -> str:
    return f"{tick:g}"
