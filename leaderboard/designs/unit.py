"""From ratings on a scale to the score on the board."""

import math
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from crowd.scales.base import Scale
from genie.lib.interval import Interval
from leaderboard.stats.intervals import CoveredInterval, bootstrap_mean

Floats = npt.NDArray[np.float64]
AnyInterval = TypeVar("AnyInterval", bound=Interval)
_STEPS = 10


@dataclass(frozen=True)
class Unit:
    """How ratings of one scale become scores.

    Parameters
    ----------
    low, high : float
        The scale's ends.
    logarithmic : bool
        False: scores are percent of the way from low to high. True: ratings are ratios
        to a reference output, scores are 100 times their geometric mean.
    steps : bool
        Whether the scale has discrete answers, so that each can be counted.
    percent : bool
        False: scores are the ratings' own mean, not percent of the way.
    times : float
        Multiplier of such a mean: 100 if scores are in hundredths.
    """

    low: float
    high: float
    logarithmic: bool = False
    steps: bool = True
    percent: bool = True
    times: float = 1.0

    @property
    def aggregate(self) -> str:
        return "geometric-mean" if self.logarithmic else "mean"

    def averaged(self, values: Floats) -> Floats:
        """Convert ratings into the values that are averaged over instances.

        Examples
        --------
        >>> Unit(1, 6).averaged(np.array([1.0, 3.5, 6.0])).tolist()
        [0.0, 50.0, 100.0]
        """
        if self.logarithmic:
            # Ratios average as logarithms do: twice as good and half as good cancel.
            return np.asarray(np.log(values), dtype=np.float64)
        if not self.percent:
            return np.asarray(self.times * values, dtype=np.float64)
        return np.asarray(100 * (values - self.low) / (self.high - self.low))

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the ends of the averaged values."""
        if self.logarithmic:
            return math.log(self.low), math.log(self.high)
        own = self.times * self.low, self.times * self.high
        return (0.0, 100.0) if self.percent else own

    def interval(
        self, per_instance: Floats, *, seed: int, n_resamples: int, confidence: float
    ) -> CoveredInterval:
        """Return the score with its interval; `per_instance` comes from `averaged`.

        Examples
        --------
        >>> score = Unit(0.01, 100.0, logarithmic=True).interval(
        ...     np.log([0.5, 2.0]), seed=1, n_resamples=10, confidence=0.95)
        >>> score.estimate
        100.0
        """
        interval = bootstrap_mean(
            per_instance,
            seed=seed,
            n_resamples=n_resamples,
            confidence=confidence,
            bounds=self.bounds,
        )
        return self.shown(interval)

    def shown(self, interval: AnyInterval) -> AnyInterval:
        """Convert an interval of averaged values into one of the score.

        Examples
        --------
        >>> Unit(0.01, 100.0, logarithmic=True).shown(Interval(0.0, -np.inf, 0.0)).low
        0.0
        """
        if not self.logarithmic:
            return interval
        return replace(
            interval,
            estimate=100 * math.exp(interval.estimate),
            low=100 * math.exp(interval.low),
            high=100 * math.exp(interval.high),
        )

    def binned(self, values: Floats) -> Floats:
        """Put ratings into few enough bins to be counted; discrete answers stay.

        Examples
        --------
        >>> Unit(0, 100, steps=False).binned(np.array([3.0, 57.0, 100.0])).tolist()
        [0.0, 50.0, 90.0]
        >>> Unit(0.01, 100, True, False).binned(np.array([1.1, 3.7])).tolist()
        [1.0, 4.0]
        """
        if self.steps:
            return np.clip(values, self.low, self.high)
        if self.logarithmic:
            # Powers of two: half as good is as far from the reference as twice as good.
            return np.asarray(2.0 ** np.rint(np.log2(values)), dtype=np.float64)
        width = (self.high - self.low) / _STEPS
        # The scale's upper end belongs to the last bin.
        place = np.minimum(np.floor((values - self.low) / width), _STEPS - 1)
        return np.asarray(self.low + width * place, dtype=np.float64)


TICKED = Unit(0.0, 1.0)


def unit_of(scale: type[Scale]) -> Unit:
    """Return how the ratings of a scale become scores.

    Examples
    --------
    >>> from crowd.scales.find import all_scales
    >>> unit_of(all_scales()["likert-5"])
    Unit(low=0.0, high=1.0, logarithmic=False, steps=True, percent=True, times=1.0)
    >>> unit_of(all_scales()["magnitude"]).aggregate
    'geometric-mean'
    """
    if scale.options:
        values = [option.value for option in scale.options]
        return Unit(min(values), max(values))
    low, high = scale.rating(scale.minimum), scale.rating(scale.maximum)
    return Unit(
        low,
        high,
        logarithmic=scale.relative,
        steps=False,
        percent=not scale.counted,
        times=scale.times,
    )
