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
        Also if there is no such instance.
    """
    tables = [as_groups(human, metric) for metric in metrics]
    h = tables[0][0] if tables else as_groups(human, human)[0]
    complete = ~np.isnan(h).any(axis=0)
    if not complete.any():
        raise ValueError("There is no instance with ratings of every system.")
    return (h[:, complete], *(metric[:, complete] for _, metric in tables))


def superiority(
    scores: npt.ArrayLike, *, n_permutations: int | None = 1_000, seed: int = 4
) -> Floats:
    """Test for every pair of systems whether the first is better.

    Parameters
    ----------
    scores : array_like, shape (s, n)
        Finite scores of s systems on n instances.
    n_permutations : int or None
        Random swaps of the two systems' scores, the same for all pairs. None takes the
        normal limit: the sum of n differences with random signs.

    Returns
    -------
    ndarray, shape (s, s)
        Above the diagonal, entry i, j: the share of swaps that make system i at least
        as much better than j as it is; NaN elsewhere. Two systems with equal scores
        throughout have 1, and with None one half.

    References
    ----------
    Thompson et al. (2024), Improving Statistical Significance in Human Evaluation of
    Automatic Metrics via Soft Pairwise Accuracy, WMT, section 3. Swaps are drawn as
    mt-metrics-eval draws them, so that the same seed gives the same p-values.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError("Each system needs a finite score on every instance.")
    # centered, because sums of millions would lose their last digits
    table = table - table.mean()
    upper = np.triu(np.ones((len(table), len(table)), dtype=bool), k=1)
    if n_permutations is None:
        return np.where(upper, _normal_limit(table), np.nan)
    if n_permutations < 1:
        raise ValueError(f"At least one swap is needed, not {n_permutations}.")
    return np.where(upper, _by_swaps(table, n_permutations, seed), np.nan)


def _by_swaps(table: Floats, n_permutations: int, seed: int) -> Floats:
    n_systems, n = table.shape
    rng = np.random.default_rng(seed)
    totals = table.sum(axis=1)
    # equal up to rounding counts as equal
    edge = 1e-12 * np.abs(table).sum(axis=1).max(initial=0.0)
    reached = np.zeros((n_systems, n_systems))
    rows = max(1, _CHUNK_SIGNS // max(n, 1))
    for start in range(0, n_permutations, rows):
        size = (min(rows, n_permutations - start), n)
        # drawn as in mt-metrics-eval, so that the same seed gives its p-values
        signs = 2 * np.rint(rng.random(size=size, dtype=np.float32)).astype(float) - 1
        sums = signs @ table.T
        for i in range(n_systems - 1):
            gap = totals[i] - totals[i + 1 :]
            swapped = sums[:, i, None] - sums[:, i + 1 :]
            reached[i, i + 1 :] += (swapped >= gap - edge).sum(axis=0)
    return reached / n_permutations


def _normal_limit(table: Floats) -> Floats:
    from scipy import special

    products = table @ table.T
    diagonal = np.diag(products)
    squares = diagonal[:, None] + diagonal[None, :] - 2 * products
    totals = table.sum(axis=1)
    gap = totals[:, None] - totals[None, :]
    # rounding errors between identical systems do not count as differences
    alike = squares <= 1e-12 * (diagonal[:, None] + diagonal[None, :])
    spread = np.sqrt(np.where(alike, 1.0, squares))
    return np.asarray(special.ndtr(-np.where(alike, 0.0, gap / spread)))


def soft_pairwise_accuracy(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    n_permutations: int | None = 1_000,
    seed: int = 4,
) -> float:
    """Compare the p-values of people and a metric for all pairs of systems.

    Parameters
    ----------
    human : array_like, shape (s, n)
        Instances without a score (NaN) of every system are left out.
    metric : array_like, shape (s, n)
        Higher is better. A system's score is the mean over its instances, even for
        metrics with a different overall value (BLEU).
    n_permutations, seed : int
        See `superiority`.

    Returns
    -------
    float
        One minus the mean absolute difference of p-values; in [0, 1], NaN for fewer
        than two systems.

    References
    ----------
    Thompson et al. (2024), equation 2. With the defaults equal to mt-metrics-eval's,
    which sums in single precision.
    """
    h, m = complete_instances(human, metric)
    return _agreement(
        superiority(h, n_permutations=n_permutations, seed=seed),
        superiority(m, n_permutations=n_permutations, seed=seed),
    )


def _agreement(human: Floats, metric: Floats) -> float:
    above = np.triu_indices(len(human), k=1)
    if len(above[0]) == 0:
        return float("nan")
    return float(1 - np.abs(human - metric)[above].mean())


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
    if n_permutations < 1:
        raise ValueError(f"At least one swap is needed, not {n_permutations}.")
    h, a, b = complete_instances(human, first, second)
    # scores can be swapped only between metrics on the same scale
    a, b = standardize(a), standardize(b)
    people = superiority(h, n_permutations=None)[np.triu_indices(len(h), k=1)]
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
        n_permutations,
        "scores swapped, soft pairwise accuracy (normal limit)",
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
