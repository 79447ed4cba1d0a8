"""Intervals that say what they cover, and the bootstrap interval of a mean."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval

# Resampled means without drawing every rating of every resample.
#
# The mean of a bootstrap resample is the mean of n independent draws from the ratings.
# Ratings are on a lattice (a 5-point scale, a slider), so the distribution of that mean
# is an n-fold convolution, which one Fourier transform computes: a resample then costs
# one draw instead of n, and "infinitely many resamples" cost no draw at all.
Floats = npt.NDArray[np.float64]

#: Ratings without a lattice are put on one with this many steps per standard
#: deviation; it widens the standard error by about 5 parts in a million.
STEPS_PER_SD = 128
#: Below this many ratings without a lattice every draw is made: there are few, and the
#: atoms of such a small bootstrap distribution should stay exact.
SMALL_SAMPLE = 64
MAX_LATTICE_LEVELS = 4096
_LOG_TAIL = 31.0  # the window of the transform leaves out less than exp(-31) each side
_CHUNK_DRAWS = 1_000_000


@dataclass(frozen=True)
class MeanDistribution:
    """The bootstrap distribution of a mean: its support and probabilities.

    Parameters
    ----------
    support : ndarray, shape (m,)
        Possible means, ascending, in the unit of the ratings.
    mass : ndarray, shape (m,)
        Their probabilities, summing to 1.
    """

    support: Floats
    mass: Floats

    def quantile(self, p: npt.ArrayLike) -> Floats:
        """Return the smallest mean that at least a share `p` of resamples reaches."""
        cumulative = np.cumsum(self.mass)
        # the last sum may be 1 - 1e-16; a p of 1 must still find the last atom
        index = np.searchsorted(cumulative, np.asarray(p, dtype=np.float64) - 1e-12)
        ends: Floats = self.support[np.minimum(index, len(self.support) - 1)]
        return ends

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """Draw `size` resampled means, ascending."""
        cumulative = np.cumsum(self.mass)
        # sorted: searching in order is faster, and the result is ascending
        uniforms = np.sort(rng.random(size)) * cumulative[-1]
        index = np.searchsorted(cumulative, uniforms, side="right")
        drawn: Floats = self.support[np.minimum(index, len(self.support) - 1)]
        return drawn


def lattice_step(distinct: Floats) -> float | None:
    """Find the step of the lattice of the given values.

    Parameters
    ----------
    distinct : ndarray, shape (k,), k >= 2
        Distinct values, ascending.

    Returns
    -------
    float or None
        The largest step of which every difference is a whole multiple (within 1e-9
        of the range); None if it would need more than 4,096 steps.
    """
    span = float(distinct[-1] - distinct[0])
    smallest = span / MAX_LATTICE_LEVELS
    step = 0.0
    gaps = np.unique(np.diff(distinct))
    for gap in gaps[gaps > 1e-9 * span]:  # less is one value with two roundings
        a, b = max(step, float(gap)), min(step, float(gap))
        while b > 1e-9 * span:
            remainder = a % b
            # a remainder just under b is a rounding error, not a finer lattice
            a, b = b, min(remainder, b - remainder)
        step = a
        if step < smallest:
            return None
    levels = (distinct - distinct[0]) / step
    return step if bool(np.all(np.abs(levels - np.rint(levels)) < 1e-6)) else None


def mean_distribution(values: Floats) -> MeanDistribution:
    """Return the whole bootstrap distribution of the mean of some ratings.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Finite ratings, not all equal.

    Returns
    -------
    MeanDistribution
        Exact up to rounding if the ratings are on a lattice of at most 4,096
        steps; otherwise each rating is split between its two neighbors on a fine
        lattice, which keeps the mean and widens the standard error by about 5e-6.

    Notes
    -----
    The transform is taken on a window around the expected sum; Bernstein's inequality
    keeps the probability outside below 1e-13.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 4 (the ideal
    bootstrap); Bernstein's inequality as in Boucheron, Lugosi and Massart (2013),
    section 2.8.
    """
    n = len(values)
    origin = float(values.min())
    step = lattice_step(np.unique(values))
    if step is None:
        step = float(values.std()) / STEPS_PER_SD
        position = (values - origin) / step
    else:
        position = np.rint((values - origin) / step)
    lower = np.floor(position).astype(np.intp)
    # split between both neighbors in proportion: the mean stays exact
    share = position - lower
    top = int(lower.max()) + 1
    pmf = np.bincount(lower, 1 - share, top + 1) + np.bincount(
        lower + 1, share, top + 1
    )
    first, mass = _convolution_power(np.asarray(pmf / n, dtype=np.float64), n)
    return MeanDistribution(origin + step * (first + np.arange(len(mass))) / n, mass)


def _convolution_power(pmf: Floats, n: int) -> tuple[int, Floats]:
    from scipy import fft

    levels = np.arange(len(pmf))
    mean = float(pmf @ levels)
    variance = float(pmf @ (levels - mean) ** 2)
    largest = int(np.flatnonzero(pmf)[-1])
    # Bernstein's bound solved for the deviation whose probability is exp(-31)
    part = largest * _LOG_TAIL / 3
    reach = part + np.sqrt(part**2 + 2 * _LOG_TAIL * n * variance)
    low = max(0, int(np.floor(n * mean - reach)))
    high = min(n * largest, int(np.ceil(n * mean + reach)))
    size = fft.next_fast_len(max(high - low + 1, len(pmf)), real=True)
    power = _integer_power(fft.rfft(pmf, size), n)
    mass = np.roll(fft.irfft(power, size), -low % size)[: high - low + 1]
    mass = np.maximum(mass, 0.0)
    mass[mass < 1e-14] = 0.0  # rounding noise of the transform
    return low, mass / mass.sum()


def _integer_power(
    base: npt.NDArray[np.complex128], exponent: int
) -> npt.NDArray[np.complex128]:
    # squaring keeps the phase exact, unlike exp(n log z), and is faster
    result: npt.NDArray[np.complex128] | None = None
    square = base
    while True:
        if exponent & 1:
            result = square if result is None else result * square
        exponent >>= 1
        if not exponent:
            break
        square = square * square
    assert result is not None  # noqa: S101  (the exponent was at least 1)
    return result


def resample_means(
    values: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Draw the means of bootstrap resamples.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Finite ratings, not all equal; their order does not matter.

    Returns
    -------
    ndarray, shape (n_resamples,)
        The means, ascending, in the unit of the ratings.
    """
    ordered = np.sort(values)
    if len(ordered) > SMALL_SAMPLE or lattice_step(np.unique(ordered)) is not None:
        return mean_distribution(ordered).sample(n_resamples, rng)
    rows = max(1, _CHUNK_DRAWS // len(ordered))
    means = np.empty(n_resamples)
    for start in range(0, n_resamples, rows):
        stop = min(start + rows, n_resamples)
        drawn = rng.integers(0, len(ordered), size=(stop - start, len(ordered)))
        means[start:stop] = ordered[drawn].mean(axis=1)
    return np.sort(means)


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
    if array.size == 0:
        raise ValueError(f"There are no {what} to average.")
    if not np.isfinite(array).all():
        first_bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(
            f"The {what} must be finite numbers; number {first_bad + 1} is {array[first_bad]}."
        )
    return array


def bootstrap_mean(
    values: npt.ArrayLike,
    *,
    seed: int,
    n_resamples: int | None = 10_000,
    confidence: float = 0.95,
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
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, equation 13.4.
    """
    ratings = as_ratings(values)
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
            f"percentile, {method_note}",
        )
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    ends = (
        mean_distribution(np.sort(ratings)).quantile(tails)
        if n_resamples is None
        else np.quantile(_resample(ratings.tobytes(), n_resamples, seed), tails)
    )
    low, high = float(ends[0]), float(ends[1])
    return CoveredInterval(estimate, low, high, COVERS_INSTANCES, n, "percentile")


@lru_cache(maxsize=8)
def _resample(ratings: bytes, n_resamples: int, seed: int) -> Floats:
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
        return float(low), float(high), "no variation observed, bound by the scale"
    if n == 1:
        return -np.inf, np.inf, "one rating cannot show variation"
    return value, value, "no variation observed"
