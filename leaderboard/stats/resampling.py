"""Resampled means without drawing every rating of every resample.

The mean of a bootstrap resample is the mean of n independent draws from the ratings.
Ratings are on a lattice (a 5-point scale, a slider), so the distribution of that mean
is an n-fold convolution, which one Fourier transform computes: a resample then costs
one draw instead of n, and "infinitely many resamples" cost no draw at all.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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

    def share_below(self, value: float) -> float:
        """Return the share of resamples below `value`, ties counting one half."""
        width = 1e-9 * max(float(np.ptp(self.support)), abs(value), 1e-300)
        below = self.mass[self.support < value - width].sum()
        tied = self.mass[np.abs(self.support - value) <= width].sum()
        return float(below + tied / 2)

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

    Examples
    --------
    >>> lattice_step(np.array([0.0, 0.5, 0.75]))
    0.25
    >>> lattice_step(np.array([0.0, 1.0, 2**0.5])) is None
    True
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

    Examples
    --------
    >>> d = mean_distribution(np.array([0.0, 1.0]))
    >>> d.support.tolist(), d.mass.round(12).tolist()
    ([0.0, 0.5, 1.0], [0.25, 0.5, 0.25])
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
    support = origin + step * (first + np.arange(len(mass))) / n
    return MeanDistribution(support, mass)


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
    spectrum = fft.rfft(pmf, size)
    power = _integer_power(spectrum, n)
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

    Examples
    --------
    >>> means = resample_means(np.array([0.0, 1.0]), 1000, np.random.default_rng(1))
    >>> sorted(set(means.tolist()))
    [0.0, 0.5, 1.0]
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
