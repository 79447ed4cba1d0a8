"""Statistics of two metrics with scores swapped at random, many swaps at once.

In a permutation test between two metrics every score of one is swapped, or not, with the
other's. The sums in Pearson's correlation are linear in the swaps, the counts of pairs in
Kendall's tau quadratic: a matrix product computes them for all swaps, faster than a loop
over swaps.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.correlation import rank_rows
from leaderboard.stats.resampling import Floats

Bits = npt.NDArray[np.float32]

#: Numbers of swaps in memory at a time.
CHUNK = 8_000_000


class Swapped(Protocol):
    def __call__(self, swaps: Bits, group: int) -> Floats:
        """Return the statistic, shape (r,), for swaps of shape (r, k); 1 takes the first."""


def standardised(scores: Floats) -> Floats:
    """Subtract the mean and divide by the standard deviation (divisor n); all 0 if constant.

    NaN stays NaN. Values are rounded to about 1e-9, so that two metrics that differ only in
    scale are equal.

    Examples
    --------
    >>> standardised(np.array([1.0, 3.0, np.nan])).tolist()
    [-1.0, 1.0, nan]
    """
    known = scores[~np.isnan(scores)]
    spread = float(known.std()) if known.size else 0.0
    if spread == 0:
        return scores * 0.0
    # a power of two makes the rounding exact
    result: Floats = np.rint((scores - known.mean()) / spread * 2.0**30) / 2.0**30
    return result


def random_swaps(rng: np.random.Generator, n_swaps: int, size: int) -> Iterator[Bits]:
    """Yield float32 chunks, shape (r, size), of `n_swaps` rows of random zeros and ones.

    Examples
    --------
    >>> chunks = list(random_swaps(np.random.default_rng(1), 1000, 3))
    >>> chunks[0].shape, bool(450 < chunks[0][:, 0].sum() < 550)
    ((1000, 3), True)
    """
    rows = max(1, CHUNK // max(size, 1))
    for start in range(0, n_swaps, rows):
        count = min(rows, n_swaps - start) * size
        # one random bit per swap; a uniform number would take 64
        drawn = np.frombuffer(rng.bytes((count + 7) // 8), dtype=np.uint8)
        bits = np.unpackbits(drawn, count=count)
        yield bits.reshape(-1, size).astype(np.float32)


def all_swaps(size: int) -> Bits:
    """Return every row of zeros and ones, shape (2**size, size), float32; size at most 16.

    Examples
    --------
    >>> all_swaps(2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    numbers = np.arange(2**size)[:, None] >> np.arange(size)[::-1]
    return (numbers & 1).astype(np.float32)


def swapped_pearson(human: Floats, first: Floats, second: Floats) -> Swapped:
    """Prepare Pearson's correlation of people with a metric mixed from two.

    Parameters
    ----------
    human, first, second : ndarray, shape (g, k)
        NaN at the same places.

    Examples
    --------
    >>> h, a, b = (np.array([x]) for x in ([1.0, 2, 3], [1.0, 2, 3], [3.0, 2, 1]))
    >>> swapped_pearson(h, a, b)(all_swaps(3)[[7, 0]], 0).round(9).tolist()
    [1.0, -1.0]
    """
    people = _centred(human)
    norms = np.sqrt((people**2).sum(axis=1))
    rated = ~np.isnan(human)
    n_rated = np.maximum(rated.sum(axis=1), 1)
    # relative to their common mean, so that subtracting squares loses little precision
    middle = np.nansum(first + second, axis=1) / (2 * n_rated)
    a = np.nan_to_num(first - middle[:, None])
    b = np.nan_to_num(second - middle[:, None])

    def statistic(swaps: Bits, group: int) -> Floats:
        w = swaps.astype(np.float64)
        x, y, h = a[group], b[group], people[group]
        sums = y.sum() + w @ (x - y)
        squares = (y**2).sum() + w @ (x**2 - y**2)
        products = h @ y + w @ (h * (x - y))
        spread = squares - sums**2 / n_rated[group]
        defined = (spread > 1e-12 * np.maximum(squares, 1e-300)) & (norms[group] > 0)
        root = norms[group] * np.sqrt(np.maximum(spread, 0.0))
        return np.asarray(
            np.divide(products, root, out=np.full(len(w), np.nan), where=defined)
        )

    return statistic


def _centred(scores: Floats) -> Floats:
    n = np.maximum(np.count_nonzero(~np.isnan(scores), axis=1), 1)
    mean = np.nansum(scores, axis=1) / n
    centred = np.nan_to_num(scores - mean[:, None])
    spread = (centred**2).sum(axis=1)
    # rounding errors of constant values do not count as variation
    largest = np.nan_to_num(np.abs(scores)).max(axis=1, initial=0.0)
    centred[spread <= n * (1e-13 * largest) ** 2] = 0.0
    return np.asarray(centred)


def swapped_spearman(human: Floats, first: Floats, second: Floats) -> Swapped:
    """Prepare Spearman's correlation of people with a metric mixed from two.

    Parameters as in `swapped_pearson`.

    Examples
    --------
    >>> h, a, b = (np.array([x]) for x in ([1.0, 2, 3], [1.0, 2, 9], [9.0, 2, 1]))
    >>> swapped_spearman(h, a, b)(all_swaps(3)[[7, 0]], 0).round(9).tolist()
    [1.0, -1.0]
    """
    people = _centred(rank_rows(human))
    norms = np.sqrt((people**2).sum(axis=1))

    def statistic(swaps: Bits, group: int) -> Floats:
        mixed = np.where(swaps > 0, first[group], second[group])
        ranks = _centred(rank_rows(mixed))
        root = norms[group] * np.sqrt((ranks**2).sum(axis=1))
        return np.asarray(
            np.divide(
                ranks @ people[group],
                root,
                out=np.full(len(swaps), np.nan),
                where=root > 0,
            )
        )

    return statistic


def pair_form(
    first: Floats, second: Floats, count: Callable[[Floats], Floats]
) -> Callable[[Bits], Floats]:
    """Prepare a sum over pairs that depends on which metric each score is taken from.

    Parameters
    ----------
    first, second : ndarray, shape (k,)
        Scores of two metrics.
    count : callable
        From the differences of all pairs, shape (k, k), to the summand of each; the same
        for a pair in either order.

    Returns
    -------
    callable
        Swaps, shape (r, k), to the sum over pairs, shape (r,): with u the swaps, one
        constant, one linear and one quadratic term in u.

    Examples
    --------
    >>> form = pair_form(np.array([1.0, 2.0]), np.array([1.0, 1.0]), lambda d: (d == 0) * 1.0)
    >>> form(all_swaps(2)).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    f11 = count(np.subtract.outer(first, first))
    f10 = count(np.subtract.outer(first, second))
    f01 = count(np.subtract.outer(second, first))
    f00 = count(np.subtract.outer(second, second))
    for form in (f11, f10, f01, f00):
        np.fill_diagonal(form, 0.0)
    constant = f00.sum() / 2
    linear = (f10 - f00).sum(axis=1)
    # integers far below 2**24: exact in single precision, and twice as fast
    quadratic = (f11 - f10 - f01 + f00).astype(np.float32)

    def total(swaps: Bits) -> Floats:
        squares = np.einsum("rk,rk->r", swaps @ quadratic, swaps, dtype=np.float64)
        return np.asarray(constant + swaps @ linear + squares / 2)

    return total
