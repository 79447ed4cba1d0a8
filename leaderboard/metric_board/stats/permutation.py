"""Paired permutation tests of whether one metric follows people better than another."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.instance_level import (
    Grouping,
    InstanceStatistic,
    grouped_rows,
)
from leaderboard.metric_board.stats.pairs import (
    VARIANTS,
    PairCounts,
    Variant,
    agreement,
    as_groups,
)
from leaderboard.metric_board.stats.swaps import (
    Bits,
    Swapped,
    all_swaps,
    pair_form,
    random_swaps,
    standardised,
    swapped_pearson,
    swapped_spearman,
)
from leaderboard.stats.resampling import Floats

MAX_ALL = 16
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
    n_permutations : int
        Number of swaps.
    method : str
        In words.
    """

    difference: float
    p_value: float
    n_permutations: int
    method: str


def permutation_test(
    human: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    statistic: InstanceStatistic,
    seed: int,
    n_permutations: int | None = 1_000,
    group: Grouping = "instance",
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
        ``pearson``, ``spearman``, or a variant of Kendall's tau other than tau-c
        (``tau-b`` is the system level's Kendall, ``acc-eq`` its pairwise accuracy).
    n_permutations : int or None
        Number of random swaps; None takes all of them, for up to 16 scores.
    group : {"instance", "system", "none"}
        For tables only: the scores to compare together; the statistic is averaged.

    Returns
    -------
    MetricComparison
        p = (1 + swaps that reach the difference) / (1 + swaps), or the exact share.

    Raises
    ------
    ValueError
        Also if the groups are too large for tau.

    Notes
    -----
    mt-metrics-eval computes the same test in a loop and without the added one. Groups
    in which the statistic is undefined for a swap are left out of that swap's mean.

    References
    ----------
    Deutsch, Dror and Roth (2021), A Statistical Analysis of Summarization Evaluation
    Metrics Using Resampling Methods, TACL 9, section 5 (PERM-BOTH).

    Examples
    --------
    >>> rng = np.random.default_rng(2)
    >>> people = rng.normal(size=(8, 50))
    >>> good = people + rng.normal(size=(8, 50))
    >>> poor = people + 5 * rng.normal(size=(8, 50))
    >>> permutation_test(people, good, poor, statistic="tau-b", seed=1).p_value < 0.01
    True
    """
    h, a, b = _grouped(human, first, second, group)
    swapped = _prepare(h, a, b, statistic)
    ones = np.ones((1, h.shape[1]), dtype=np.float32)
    difference = float(_differences(swapped, len(h), 1, lambda: iter([ones]))[0])
    if n_permutations is None:
        swaps = _all_of(h)
        reached = _differences(swapped, 1, len(swaps), lambda: iter([swaps]))
        p_value = _share(reached, difference)
    elif n_permutations < 1:
        raise ValueError(f"At least one swap is needed, not {n_permutations}.")
    else:
        rng = np.random.default_rng(seed)
        n, size = n_permutations, h.shape[1]
        reached = _differences(swapped, len(h), n, lambda: random_swaps(rng, n, size))
        # the observed labeling is one of the permutations, so p is never 0
        p_value = (_share(reached, difference) * n + 1) / (n + 1)
    method = f"scores swapped, {statistic}" + (
        f" by {group}" if np.ndim(human) == 2 else " of systems"
    )
    return MetricComparison(difference, p_value, len(reached), method)


def _grouped(
    human: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, group: Grouping
) -> tuple[Floats, Floats, Floats]:
    if np.ndim(human) == 1:
        h, a = as_groups(human, first)
        b = as_groups(human, second)[1]
        return h, standardised(a), standardised(b)
    h, a = grouped_rows(human, first, group)
    b = grouped_rows(human, second, group)[1]
    # a single score cannot be compared
    enough = np.count_nonzero(~np.isnan(h), axis=1) >= 2
    return h[enough], standardised(a)[enough], standardised(b)[enough]


def _all_of(h: Floats) -> Bits:
    rated = ~np.isnan(h)
    size = int(np.count_nonzero(rated))
    if len(h) != 1 or size > MAX_ALL:
        raise ValueError(
            f"All swaps of {size} scores are too many; give a number of them."
        )
    swaps = all_swaps(size)
    wide = np.zeros((len(swaps), h.shape[1]), dtype=np.float32)
    wide[:, rated[0]] = swaps
    return wide


def _prepare(h: Floats, a: Floats, b: Floats, statistic: InstanceStatistic) -> Swapped:
    if statistic == "pearson":
        return swapped_pearson(h, a, b)
    if statistic == "spearman":
        return swapped_spearman(h, a, b)
    if statistic not in VARIANTS or statistic == "tau-c":
        raise ValueError(f"Scores cannot be swapped for {statistic!r}.")
    if h.shape[1] > _MAX_GROUP:
        raise ValueError(
            f"Groups of {h.shape[1]} scores are too large for {statistic}; group by"
            " instance."
        )
    return _swapped_tau(h, a, b, statistic)


def _swapped_tau(h: Floats, a: Floats, b: Floats, variant: Variant) -> Swapped:
    def statistic(swaps: Bits, group: int) -> Floats:
        counts = _prepared(group)
        return agreement(counts(swaps), variant)

    memory: dict[int, _SwappedCounts] = {}

    def _prepared(group: int) -> _SwappedCounts:
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
        self.n = len(h)
        self.n_tied_human = (np.count_nonzero(order == 0) - self.n) / 2
        self.n_pairs = self.n * (self.n - 1) / 2
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
            n_values=zeros + self.n,
            n_classes=zeros,
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
