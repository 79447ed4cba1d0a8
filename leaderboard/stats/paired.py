"""Tests and intervals of the difference of two systems on the same instances."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import (
    Floats,
    as_ratings,
    resample_means,
)

_MAX_EXACT_RANKS = 200_000
_CHUNK_SIGNS = 1_000_000


@dataclass(frozen=True)
class PairedTest:
    """The result of a paired test between a system A and a system B.

    Parameters
    ----------
    difference : float
        Mean of A minus mean of B, in the unit of the ratings.
    p_value : float
        Two-sided: the probability of such a difference if neither is better.
    n : int
        Number of instances both were rated on.
    """

    difference: float
    p_value: float
    method: str
    n: int


@dataclass(frozen=True)
class PairedBootstrap(PairedTest):
    """A paired test with a share of resamples.

    Parameters
    ----------
    p_above : float
        Share of resamples in which A has the higher mean, ties counting one half.
    """

    p_above: float


def differences(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """Subtract two systems' ratings of the same instances.

    Examples
    --------
    >>> differences([1, 2], [1, 0]).tolist()
    [0.0, 2.0]
    """
    first = as_ratings(a, what="ratings of the first system")
    second = as_ratings(b, what="ratings of the second system")
    # 0.3 - 0.1 and 0.2 are equal: round, to a power of two so that it is exact
    scale = max(float(np.abs(first).max()), float(np.abs(second).max()), 1e-290)
    unit = 2.0 ** np.floor(np.log2(1e-11 * scale))
    gap: Floats = np.rint((first - second) / unit) * unit
    return gap


def paired_bootstrap(
    a: npt.ArrayLike, b: npt.ArrayLike, *, seed: int, n_resamples: int = 10_000
) -> PairedBootstrap:
    """Resample instances to test the difference of A and B.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Ratings of the two systems, position by position of the same instances.
    seed : int
        Seed of the resampling; the order of the instances does not matter.
    n_resamples : int
        Number of resamples.

    Returns
    -------
    PairedBootstrap
        `p_above` is Koehn's share; the p-value is twice the smaller share, with one
        added to count and total so that it is never 0.
        Without any difference on any instance the p-value is 1 and p_above one half;
        with the same difference on all of them, the p-value is that of n equal signs.

    References
    ----------
    Koehn (2004), Statistical Significance Tests for Machine Translation Evaluation,
    section 4.2; Davison and Hinkley (1997), equation 4.11 for the added one.
    """
    gap = differences(a, b)
    n = len(gap)
    if np.ptp(gap) == 0:
        return _no_variation(float(gap[0]), n)
    means = resample_means(gap, n_resamples, np.random.default_rng(seed))
    p_above = share_above_zero(means, float(np.ptp(gap)))
    return PairedBootstrap(
        float(np.sort(gap).mean()),
        _two_sided(min(p_above, 1 - p_above), n_resamples),
        "paired bootstrap",
        n,
        p_above=p_above,
    )


def _no_variation(value: float, n: int) -> PairedBootstrap:
    # every resample is the sample, so use the probability of n equal signs
    return PairedBootstrap(
        value,
        1.0 if value == 0 else 0.5 ** (n - 1),
        "paired bootstrap, no variation seen",
        n,
        p_above=0.5 + 0.5 * float(np.sign(value)),
    )


def share_above_zero(means: Floats, spread: float) -> float:
    """Return the share of resampled differences above zero, ties counting one half.

    Parameters
    ----------
    means : ndarray, shape (r,)
        Resampled differences.
    spread : float
        Range of the differences resampled; less than a billionth of it is zero.

    Examples
    --------
    >>> share_above_zero(np.array([-1.0, 0.0, 1.0, 1.0]), 2.0)
    0.625
    """
    edge = 1e-9 * spread
    return float((np.mean(means > edge) + np.mean(means >= -edge)) / 2)


def _two_sided(share: float, n_resamples: int) -> float:
    return min(1.0, 2 * (share * n_resamples + 1) / (n_resamples + 1))


def approximate_randomisation(
    a: npt.ArrayLike, b: npt.ArrayLike, *, seed: int, n_shuffles: int = 10_000
) -> PairedTest:
    """Test the difference of two systems by swapping their ratings at random.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Ratings of the two systems, position by position of the same instances.
    n_shuffles : int
        Number of random swaps, at least 1.

    Returns
    -------
    PairedTest
        p = (1 + shuffles with a difference at least as large) / (1 + shuffles).

    References
    ----------
    Noreen (1989), Computer-Intensive Methods for Testing Hypotheses, section 2.8;
    Riezler and Maxwell (2005), section 4.1.
    """
    gap = differences(a, b)
    # instances without a difference are the same after a swap
    nonzero = np.sort(np.abs(gap[gap != 0]))
    total = abs(float(np.sort(gap).sum()))
    return PairedTest(
        float(np.sort(gap).mean()),
        _some_swaps(nonzero, total, n_shuffles, np.random.default_rng(seed)),
        "randomisation",
        len(gap),
    )


def _some_swaps(
    sizes: Floats, total: float, n_shuffles: int, rng: np.random.Generator
) -> float:
    if len(sizes) == 0:
        return 1.0
    distinct, counts = np.unique(sizes, return_counts=True)
    edge = 1e-9 * float(sizes.sum())
    # rating scales have few distinct differences, and one binomial number replaces c
    # coins
    if len(distinct) <= 32:
        # of c equal differences, a binomial number keeps its sign
        kept = rng.binomial(counts, 0.5, size=(n_shuffles, len(distinct)))
        sums = (2 * kept - counts) @ distinct
    else:
        sums = np.empty(n_shuffles)
        rows = max(1, _CHUNK_SIGNS // len(sizes))
        for start in range(0, n_shuffles, rows):
            stop = min(start + rows, n_shuffles)
            signs = rng.integers(0, 2, size=(stop - start, len(sizes)), dtype=np.int8)
            sums[start:stop] = (2 * signs - 1) @ sizes
    as_large = int(np.count_nonzero(np.abs(sums) >= total - edge))
    return (as_large + 1) / (n_shuffles + 1)


def _all_swaps(ranks: Floats, total: float) -> float:
    # ranks are whole or half
    levels = np.rint(2 * ranks).astype(np.int64)
    top = int(levels.sum())
    # a sum of +-levels is top - 2 (levels swapped); count the latter
    swapped = _swapped_levels(levels)
    reached = np.abs(top - 2 * np.arange(top + 1)) >= np.rint(2 * total) - 0.5
    return float(min(1.0, swapped[reached].sum()))


def _swapped_levels(levels: npt.NDArray[np.int64]) -> Floats:
    from scipy import signal, stats

    parts: list[Floats] = []
    for level, count in zip(*np.unique(levels, return_counts=True), strict=True):
        part = np.zeros(int(level * count) + 1)
        part[:: int(level)] = stats.binom.pmf(np.arange(count + 1), count, 0.5)
        parts.append(part)
    while len(parts) > 1:  # neighbors first, so that long ones meet long ones
        joined = [
            np.maximum(signal.convolve(x, y), 0.0)
            for x, y in zip(parts[::2], parts[1::2], strict=False)
        ]
        parts = joined + parts[2 * len(joined) :]
    return parts[0]


def wilcoxon(a: npt.ArrayLike, b: npt.ArrayLike) -> PairedTest:
    """Test whether differences are symmetric about zero, by their ranks.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Ratings of the two systems, position by position of the same instances.

    Returns
    -------
    PairedTest
        Instances without a difference are ranked, then left out (Pratt). The p-value
        counts all swaps of signs, ties included, up to some 450 instances; beyond, it
        is the normal approximation. The test compares ranks, not means: a small gain on
        most instances can outweigh a large loss on a few.

    References
    ----------
    Wilcoxon (1945), Biometrics Bulletin 1; Pratt (1959), JASA 54, section 2.
    """
    from scipy import special, stats

    gap = differences(a, b)
    p_value = 1.0
    method = "wilcoxon"
    if gap.any():
        # sizes equal up to rounding should share a rank
        ranks = stats.rankdata(np.round(np.abs(gap) / np.abs(gap).max(), 12))
        total = abs(float(np.sum(ranks * np.sign(gap))))
        ranks = np.sort(ranks[gap != 0])
        if 2 * ranks.sum() <= _MAX_EXACT_RANKS:
            # swapping the ranks' signs is the test, ties and zeros included
            p_value = _all_swaps(ranks, total)
            method = "wilcoxon, exact"
        else:
            z = total / np.sqrt(np.sum(ranks**2))
            p_value = float(2 * special.ndtr(-z))
    return PairedTest(float(np.sort(gap).mean()), p_value, method, len(gap))
