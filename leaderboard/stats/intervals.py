"""Intervals that say what they cover, and the bootstrap interval of a mean."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.stats.resampling import (
    Floats,
    MeanDistribution,
    mean_distribution,
    resample_means,
)

Method = Literal["percentile", "bca"]
#: Every rating counts as independent: a worker's habits, which all of that worker's
#: ratings share, are not in the interval. `clustered_mean` and `estimate_systems` cover
#: them.
COVERS_INSTANCES = (
    "which instances were drawn, for this crowd of workers; another crowd may "
    "differ by more"
)


@dataclass(frozen=True)
class CoveredInterval(Interval):
    """An interval with the sources of variation that it covers, in words."""

    covers: str
    n: int = 0
    method: str = ""


def as_ratings(values: npt.ArrayLike, *, what: str = "ratings") -> Floats:
    """Check numbers that are to be averaged and return them as one flat array.

    Examples
    --------
    >>> as_ratings([])
    Traceback (most recent call last):
        ...
    ValueError: There are no ratings to average.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"The {what} must be one list of numbers, not {array.ndim}-d.")
    if array.size == 0:
        raise ValueError(f"There are no {what} to average.")
    if not np.isfinite(array).all():
        first_bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(
            f"The {what} must be finite numbers; number {first_bad + 1} is {array[first_bad]}."
        )
    return array


def check_confidence(confidence: float) -> float:
    """Return a confidence; raise ValueError unless it is strictly between 0 and 1.

    Examples
    --------
    >>> check_confidence(95)
    Traceback (most recent call last):
        ...
    ValueError: The confidence must lie between 0 and 1, not 95.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence must lie between 0 and 1, not {confidence}.")
    return float(confidence)


def bootstrap_mean(
    values: npt.ArrayLike,
    *,
    seed: int,
    n_resamples: int | None = 10_000,
    confidence: float = 0.95,
    method: Method = "percentile",
    bounds: tuple[float, float] | None = None,
) -> CoveredInterval:
    """Return the mean of ratings with its bootstrap interval.

    Parameters
    ----------
    values : array_like, shape (n,)
        One rating per instance (or any independent values), finite.
    seed : int
        Seed of the resampling; the same values in any order and the same seed give
        the same bytes.
    n_resamples : int or None
        Number of resamples, at least 1. None gives the limit of infinitely many,
        without randomness.
    method : {"percentile", "bca"}
        Percentile, or bias-corrected and accelerated.
    bounds : (float, float), optional
        Ends of the rating scale. They are needed only for equal ratings: a
        bootstrap of equal ratings has no width, although they are uncertain.

    Returns
    -------
    CoveredInterval
        With equal ratings and `bounds`, the interval that a share of ratings large
        enough to be unseen with probability (1 - confidence) / 2 would allow; with
        one rating and no bounds, infinitely wide; with equal ratings and no bounds,
        of no width, with a note in the method.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, equations 13.4
    (percentile), 14.9-14.15 (BCa).

    Examples
    --------
    >>> ratings = [0, 0.25, 0.5, 0.75, 1] * 160
    >>> interval = bootstrap_mean(ratings, seed=1)
    >>> interval.estimate, round(interval.half_width, 3)
    (0.5, 0.024)
    >>> bootstrap_mean([1.0] * 100, seed=1, bounds=(0, 1)).low.__round__(4)
    0.9638
    """
    ratings = as_ratings(values)
    check_confidence(confidence)
    if method not in ("percentile", "bca"):
        raise ValueError(f'The method must be "percentile" or "bca", not {method!r}.')
    if n_resamples is not None and n_resamples < 1:
        raise ValueError(f"At least one resample is needed, not {n_resamples}.")
    if bounds is not None:
        _check_bounds(ratings, bounds)
    n = len(ratings)
    # sorted before summing, so that the last digit does not depend on the order
    estimate = float(np.sort(ratings).mean())
    if np.ptp(ratings) == 0:
        low, high, method_note = _nothing_varies(
            float(ratings[0]), n, confidence, bounds
        )
        return CoveredInterval(
            float(ratings[0]),
            low,
            high,
            COVERS_INSTANCES,
            n,
            f"{method}, {method_note}",
        )
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    resampled: MeanDistribution | Floats
    if n_resamples is None:
        resampled = mean_distribution(np.sort(ratings))
    else:
        resampled = _resampled(ratings.tobytes(), n_resamples, seed)
    if method == "bca":
        tails = _bca_levels(ratings, estimate, resampled, tails)
    ends = (
        resampled.quantile(tails)
        if isinstance(resampled, MeanDistribution)
        else np.quantile(resampled, tails)
    )
    low, high = float(ends[0]), float(ends[1])
    return CoveredInterval(estimate, low, high, COVERS_INSTANCES, n, method)


@lru_cache(maxsize=8)
def _resampled(ratings: bytes, n_resamples: int, seed: int) -> Floats:
    """Draw the resamples once for several confidences (cached)."""
    values = np.frombuffer(ratings)
    return resample_means(values, n_resamples, np.random.default_rng(seed))


def _check_bounds(ratings: Floats, bounds: tuple[float, float]) -> None:
    low, high = bounds
    if not low < high:
        raise ValueError(f"The scale must go from low to high, not {low} to {high}.")
    if ratings.min() < low or ratings.max() > high:
        raise ValueError(
            f"Ratings from {ratings.min()} to {ratings.max()} do not fit the scale"
            f" {low} to {high}."
        )


def _nothing_varies(
    value: float, n: int, confidence: float, bounds: tuple[float, float] | None
) -> tuple[float, float, str]:
    if bounds is not None:
        # the largest share of other ratings that n draws miss with this probability
        unseen = -np.expm1(np.log((1 - confidence) / 2) / n)
        low = value - unseen * (value - bounds[0])
        high = value + unseen * (bounds[1] - value)
        return float(low), float(high), "no variation seen, bound by the scale"
    if n == 1:
        return -np.inf, np.inf, "one rating says nothing about variation"
    return value, value, "no variation seen"


def _bca_levels(
    ratings: Floats,
    estimate: float,
    resampled: MeanDistribution | Floats,
    tails: Floats,
) -> Floats:
    from scipy import special

    if isinstance(resampled, MeanDistribution):
        below = resampled.share_below(estimate)
    else:
        # means that are equal but for rounding count half, as ties do
        width = 1e-9 * float(np.ptp(ratings))
        below = float(
            (
                np.mean(resampled < estimate - width)
                + np.mean(resampled <= estimate + width)
            )
            / 2
        )
    edge = 0.5 / len(ratings) ** 2  # keeps z0 finite if all are on one side
    bias = special.ndtri(np.clip(below, edge, 1 - edge))
    centred = np.sort(ratings) - estimate
    # the jackknife's acceleration, which for a mean is its skewness over 6 sqrt(n)
    acceleration = np.sum(centred**3) / (6 * np.sum(centred**2) ** 1.5)
    z = bias + special.ndtri(tails)
    levels: Floats = special.ndtr(bias + z / (1 - acceleration * z))
    return levels
