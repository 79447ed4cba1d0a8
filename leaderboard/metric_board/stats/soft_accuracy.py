"""Soft pairwise accuracy: whether a metric is as certain of each difference as people.

Pairwise accuracy compares which system is better and ignores how clearly. Soft pairwise
accuracy compares the p-values of people and of the metric for "system i is better than j".
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.pairs import as_groups
from leaderboard.metric_board.stats.permutation import (
    MetricComparison,
    random_swaps,
    standardize,
)
from leaderboard.stats.intervals import Floats

_CHUNK_SIGNS = 4_000_000


def complete_instances(
    human: npt.ArrayLike, *metrics: npt.ArrayLike
) -> tuple[Floats, ...]:
    """Select the m instances on which people scored every system.

    Parameters
    ----------
    human : array_like, shape (s, n)
        NaN if people gave no score.
    *metrics : array_like, shape (s, n)

    Returns
    -------
    tuple of ndarray, shape (s, m)
        People's scores, then the metrics'.

    Raises
    ------
    ValueError
        If there is no such instance.
    """
    tables = [as_groups(human, metric) for metric in metrics]
    h = tables[0][0] if tables else as_groups(human, human)[0]
    complete = ~np.isnan(h).any(axis=0)
    if not complete.any():
        raise ValueError("There is no instance with ratings of every system.")
    return (h[:, complete], *(metric[:, complete] for _, metric in tables))


def superiority(scores: npt.ArrayLike) -> Floats:
    """Test for every pair of systems whether the first is better.

    Parameters
    ----------
    scores : array_like, shape (s, n)
        Finite scores of s systems on n instances.

    Returns
    -------
    ndarray, shape (s, s)
        Above the diagonal, entry i, j: the probability that a random swap of the two
        systems' scores makes system i at least as much better than j as it is, in the
        normal limit: the sum of n differences with random signs. NaN elsewhere; two
        systems with equal scores throughout have one half.

    References
    ----------
    Thompson et al. (2024), Improving Statistical Significance in Human Evaluation of
    Automatic Metrics via Soft Pairwise Accuracy, WMT, section 3.
    """
    from scipy import special

    table = np.asarray(scores, dtype=np.float64)
    # centered, because sums of millions would lose their last digits
    table = table - table.mean()
    products = table @ table.T
    diagonal = np.diag(products)
    squares = diagonal[:, None] + diagonal[None, :] - 2 * products
    totals = table.sum(axis=1)
    gap = totals[:, None] - totals[None, :]
    # rounding errors between identical systems do not count as differences
    alike = squares <= 1e-12 * (diagonal[:, None] + diagonal[None, :])
    spread = np.sqrt(np.where(alike, 1.0, squares))
    upper = np.triu(np.ones((len(table), len(table)), dtype=bool), k=1)
    return np.where(upper, special.ndtr(-np.where(alike, 0.0, gap / spread)), np.nan)


def soft_pairwise_accuracy(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Compare the p-values of people and a metric for all pairs of systems.

    Parameters
    ----------
    human : array_like, shape (s, n)
        Instances without a score (NaN) of every system are left out.
    metric : array_like, shape (s, n)
        Higher is better. A system's score is the mean over its instances, even for
        metrics with a different overall value (BLEU).

    Returns
    -------
    float
        One minus the mean absolute difference of p-values; in [0, 1], NaN for fewer
        than two systems.

    References
    ----------
    Thompson et al. (2024), equation 2; mt-metrics-eval draws 1,000 swaps and differs by
    some thousandths.
    """
    return mean_agreement(certainty_gaps(*complete_instances(human, metric)))


def certainty_gaps(human: Floats, metric: Floats) -> Floats:
    """Return each pair's difference of p-values, shape (s, s); NaN but above the diagonal."""
    return np.abs(superiority(human) - superiority(metric))


def mean_agreement(gaps: Floats) -> float:
    """Return one minus the mean gap of all pairs; NaN for fewer than two systems."""
    above = gaps[np.triu_indices(len(gaps), k=1)]
    return float(1 - above.mean()) if above.size else float("nan")


def soft_accuracy_test(
    human: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    seed: int,
    n_permutations: int = 1_000,
) -> MetricComparison:
    """Test one-sided whether the first metric's soft pairwise accuracy is better.

    Parameters
    ----------
    human, first, second : array_like, shape (s, n)
        See `soft_pairwise_accuracy`.
    n_permutations : int
        Swaps of the two metrics' scores, independently for each output.

    Notes
    -----
    The p-values inside are the normal limit, for the difference, too: permuting within
    each swap would take a thousand times as long for the same result.

    References
    ----------
    Thompson et al. (2024), section 5; Deutsch, Dror and Roth (2021), section 5.
    """
    h, a, b = complete_instances(human, first, second)
    # scores can be swapped only between metrics on the same scale
    a, b = standardize(a), standardize(b)
    people = superiority(h)[np.triu_indices(len(h), k=1)]
    middle, half = (a + b) / 2, (a - b) / 2
    observed = float(_accuracy_gaps(people, middle, half, np.ones((1, a.size)))[0])
    reached = 0
    for swaps in random_swaps(np.random.default_rng(seed), n_permutations, a.size):
        rows = max(1, _CHUNK_SIGNS // a.size)
        for start in range(0, len(swaps), rows):
            gaps = _accuracy_gaps(people, middle, half, swaps[start : start + rows])
            reached += int(np.count_nonzero(gaps >= observed - 1e-12))
    return MetricComparison(
        observed,
        (reached + 1) / (n_permutations + 1),
    )


def _accuracy_gaps(
    people: Floats, middle: Floats, half: Floats, swaps: npt.NDArray[np.floating[Any]]
) -> Floats:
    """Return the difference of the two accuracies for each row of swaps.

    The two metrics are middle + half and middle - half; a swap changes the sign of half.
    So both tables' products are the same sum except for the sign of the mixed term.
    """
    turned = (2 * swaps - 1).reshape(-1, *middle.shape) * half
    mixed = middle @ turned.swapaxes(1, 2)
    mixed += mixed.swapaxes(1, 2).copy()
    same = middle @ middle.T + turned @ turned.swapaxes(1, 2)
    sums, turns = middle.sum(axis=1), turned.sum(axis=2)
    # of both tables together, as the scale of rounding errors
    size = np.diagonal(same, axis1=1, axis2=2)
    first = _soft_agreements(people, same + mixed, sums + turns, size)
    return first - _soft_agreements(people, same - mixed, sums - turns, size)


def _soft_agreements(
    people: Floats, products: Floats, totals: Floats, size: Floats
) -> Floats:
    from scipy import special

    i, j = np.triu_indices(products.shape[1], k=1)
    diagonal = np.diagonal(products, axis1=1, axis2=2)
    squares = diagonal[:, i] + diagonal[:, j] - 2 * products[:, i, j]
    alike = squares <= 1e-12 * (size[:, i] + size[:, j])
    spread = np.sqrt(np.where(alike, 1.0, squares))
    z = np.where(alike, 0.0, (totals[:, i] - totals[:, j]) / spread)
    if not len(i):
        return np.full(len(products), np.nan)
    return np.asarray(1 - np.abs(people - special.ndtr(-z)).mean(axis=1))
