"""Paired permutation tests of whether one metric follows people better than another."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.correlation import rank_rows
from leaderboard.metric_board.stats.pairs import (
    InstanceStatistic,
    PairCounts,
    Variant,
    agreement,
    as_groups,
    grouped_rows,
)
from leaderboard.stats.intervals import Floats

# Statistics of two metrics with scores swapped at random, many swaps at once.
#
# In a permutation test between two metrics every score of one is swapped, or not, with the
# other's. The sums in Pearson's correlation are linear in the swaps, the counts of pairs in
# Kendall's tau quadratic: a matrix product computes them for all swaps, faster than a loop
# over swaps.
Bits = npt.NDArray[np.float32]

#: Numbers of swaps in memory at a time.
CHUNK = 8_000_000


class Swapped(Protocol):
    def __call__(self, swaps: Bits, group: int) -> Floats:
        """Return the statistic, shape (r,), for swaps of shape (r, k); 1 takes the first."""


def standardize(scores: Floats) -> Floats:
    """Subtract the mean and divide by the standard deviation (divisor n); all 0 if constant.

    NaN stays NaN. Values are rounded to about 1e-9, so that two metrics that differ only in
    scale are equal.

    Examples
    --------
    >>> standardize(np.array([1.0, 3.0, np.nan])).tolist()
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
        yield np.unpackbits(drawn, count=count).reshape(-1, size).astype(np.float32)


def swapped_pearson(human: Floats, first: Floats, second: Floats) -> Swapped:
    """Prepare Pearson's correlation of people with a metric mixed from two.

    Parameters
    ----------
    human, first, second : ndarray, shape (g, k)
        NaN at the same places.

    Examples
    --------
    >>> h, a, b = (np.array([x]) for x in ([1.0, 2, 3], [1.0, 2, 3], [3.0, 2, 1]))
    >>> swapped_pearson(h, a, b)(np.float32([[1] * 3, [0] * 3]), 0).round(9).tolist()
    [1.0, -1.0]
    """
    people = _center(human)
    norms = np.sqrt((people**2).sum(axis=1))
    n_rated = np.maximum((~np.isnan(human)).sum(axis=1), 1)
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


def _center(scores: Floats) -> Floats:
    n = np.maximum(np.count_nonzero(~np.isnan(scores), axis=1), 1)
    mean = np.nansum(scores, axis=1) / n
    centered = np.nan_to_num(scores - mean[:, None])
    spread = (centered**2).sum(axis=1)
    # rounding errors of constant values do not count as variation
    largest = np.nan_to_num(np.abs(scores)).max(axis=1, initial=0.0)
    centered[spread <= n * (1e-13 * largest) ** 2] = 0.0
    return np.asarray(centered)


def swapped_spearman(human: Floats, first: Floats, second: Floats) -> Swapped:
    """Prepare Spearman's correlation of people with a metric mixed from two.

    Parameters as in `swapped_pearson`.

    Examples
    --------
    >>> h, a, b = (np.array([x]) for x in ([1.0, 2, 3], [1.0, 2, 9], [9.0, 2, 1]))
    >>> swapped_spearman(h, a, b)(np.float32([[1] * 3, [0] * 3]), 0).round(9).tolist()
    [1.0, -1.0]
    """
    people = _center(rank_rows(human))
    norms = np.sqrt((people**2).sum(axis=1))

    def statistic(swaps: Bits, group: int) -> Floats:
        ranks = _center(rank_rows(np.where(swaps > 0, first[group], second[group])))
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
    >>> form(np.float32([[0, 0], [0, 1], [1, 0], [1, 1]])).tolist()
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


_MAX_GROUP = 4_000


@dataclass(frozen=True)
class MetricComparison:
    """Result of a permutation test between two metrics.

    Parameters
    ----------
    difference : float
        Statistic of the first metric minus that of the second.
    p_value : float
        One-sided: how often random swaps make the first at least so much better. Small
        means that the first follows people better; close to 1, the second.
    """

    difference: float
    p_value: float


def permutation_test(
    human: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    statistic: InstanceStatistic,
    seed: int,
    n_permutations: int = 1_000,
) -> MetricComparison:
    """Test the difference between two metrics by swapping their scores at random.

    Parameters
    ----------
    human : array_like, shape (s,) or (s, n)
        Scores of s systems, or of s systems on n instances; NaN if people gave none.
    first, second : array_like, same shape
        Two metrics' scores, higher being better. They are standardized before
        swapping, so their scales do not matter.
    statistic : str
        ``pearson``, ``spearman``, or a variant of Kendall's tau
        (``tau-b`` is the system level's Kendall, ``acc-eq`` its pairwise accuracy).
    n_permutations : int
        Number of random swaps.

    Returns
    -------
    MetricComparison
        p = (1 + swaps that reach the difference) / (1 + swaps).

    Raises
    ------
    ValueError
        If the groups are too large for tau.

    Notes
    -----
    mt-metrics-eval computes the same test in a loop and without the added one. Groups
    in which the statistic is undefined for a swap are left out of that swap's mean.

    References
    ----------
    Deutsch, Dror and Roth (2021), A Statistical Analysis of Summarization Evaluation
    Metrics Using Resampling Methods, TACL 9, section 5 (PERM-BOTH).
    """
    h, a, b = _check_groups(human, first, second)
    swapped = _prepare(h, a, b, statistic)
    ones = np.ones((1, h.shape[1]), dtype=np.float32)
    difference = float(_differences(swapped, len(h), 1, lambda: iter([ones]))[0])
    rng = np.random.default_rng(seed)
    n, size = n_permutations, h.shape[1]
    reached = _differences(swapped, len(h), n, lambda: random_swaps(rng, n, size))
    # the observed labeling is one of the permutations, so p is never 0
    return MetricComparison(difference, (_share(reached, difference) * n + 1) / (n + 1))


def _check_groups(
    human: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike
) -> tuple[Floats, Floats, Floats]:
    if np.ndim(human) == 1:
        h, a = as_groups(human, first)
        b = as_groups(human, second)[1]
        return h, standardize(a), standardize(b)
    h, a = grouped_rows(human, first)
    b = grouped_rows(human, second)[1]
    # a single score cannot be compared
    enough = np.count_nonzero(~np.isnan(h), axis=1) >= 2
    return h[enough], standardize(a)[enough], standardize(b)[enough]


def _prepare(h: Floats, a: Floats, b: Floats, statistic: InstanceStatistic) -> Swapped:
    if statistic == "pearson":
        return swapped_pearson(h, a, b)
    if statistic == "spearman":
        return swapped_spearman(h, a, b)
    if h.shape[1] > _MAX_GROUP:
        raise ValueError(
            f"Groups of {h.shape[1]} scores are too large for {statistic}."
        )
    return _swapped_tau(h, a, b, statistic)


def _swapped_tau(h: Floats, a: Floats, b: Floats, variant: Variant) -> Swapped:
    def statistic(swaps: Bits, group: int) -> Floats:
        return agreement(_prepare_group(group)(swaps), variant)

    memory: dict[int, _SwappedCounts] = {}

    def _prepare_group(group: int) -> _SwappedCounts:
        # each group is used twice per chunk, and rarely again
        if group not in memory:
            memory.clear()
            memory[group] = _SwappedCounts(h[group], a[group], b[group])
        return memory[group]

    return statistic


class _SwappedCounts:
    """The five counts of pairs of one group, for any swaps."""

    def __init__(self, h: Floats, a: Floats, b: Floats) -> None:
        rated = ~np.isnan(h)
        self.rated = rated
        h, a, b = h[rated], a[rated], b[rated]
        order = np.sign(np.subtract.outer(h, h))
        n = len(h)
        self.n_tied_human = (np.count_nonzero(order == 0) - n) / 2
        self.n_pairs = n * (n - 1) / 2
        self.surplus = pair_form(a, b, lambda gap: order * np.sign(gap))
        values = np.concatenate([a, b])
        self.any_ties = len(np.unique(values)) < len(values)
        level = order == 0
        self.tied = pair_form(a, b, lambda gap: ((gap == 0) & ~level).astype(float))
        self.both = pair_form(a, b, lambda gap: ((gap == 0) & level).astype(float))

    def __call__(self, swaps: Bits) -> PairCounts:
        u = np.ascontiguousarray(swaps[:, self.rated])
        zeros = np.zeros(len(u))
        surplus = self.surplus(u)
        tied = self.tied(u) if self.any_ties else zeros
        both = self.both(u) if self.any_ties else zeros
        ordered = self.n_pairs - self.n_tied_human - tied
        return PairCounts(
            concordant=(ordered + surplus) / 2,
            discordant=(ordered - surplus) / 2,
            tied_human=self.n_tied_human - both,
            tied_metric=tied,
            tied_both=both,
        )


def _differences(
    swapped: Swapped, n_groups: int, n_swaps: int, chunks: Callable[[], Iterator[Bits]]
) -> Floats:
    sums = np.zeros((2, n_swaps))
    counts = np.zeros((2, n_swaps))
    for group in range(n_groups):
        done = 0
        for swaps in chunks():
            part = slice(done, done + len(swaps))
            for side, chosen in enumerate((swaps, 1 - swaps)):
                values = swapped(chosen, group)
                defined = ~np.isnan(values)
                sums[side, part] += np.where(defined, values, 0.0)
                counts[side, part] += defined
            done += len(swaps)
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return np.asarray(means[0] - means[1])


def _share(reached: Floats, difference: float) -> float:
    # equal up to rounding counts as equal
    return float(np.mean(reached >= difference - 1e-12))
