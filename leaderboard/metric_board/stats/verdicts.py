"""Tests between metrics by their decisions on pairs, each with a separate epsilon."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.calibration import (
    Calibrated,
    by_size,
    calibrated_accuracy,
    pair_gaps,
)
from leaderboard.metric_board.stats.pairs import grouped_rows
from leaderboard.metric_board.stats.permutation import MetricComparison, random_swaps
from leaderboard.stats.intervals import Floats

Bools = npt.NDArray[np.bool_]
#: Level of the tests; without a correction, as is usual in the field.
ALPHA = 0.05


@dataclass(frozen=True)
class Verdicts:
    """On which pairs a metric agrees with people, ties included.

    Parameters
    ----------
    calibrated : Calibrated
        Accuracy and the epsilon below which the metric ties.
    right : list of ndarray of bool, shapes (r, pairs)
        For each size of group, a row per group of that size.
    shares : list of float
        Weight of one pair of such a group in the mean.
    """

    calibrated: Calibrated
    right: list[Bools]
    shares: list[float]


def verdicts(human: npt.ArrayLike, metric: npt.ArrayLike) -> Verdicts:
    """Calibrate a metric and check each pair, for tests with other metrics.

    Needs a byte per pair.

    Parameters
    ----------
    human, metric
        See `leaderboard.metric_board.stats.calibration.calibrated_accuracy`.

    References
    ----------
    Deutsch, Foster and Freitag (2023), Ties Matter, EMNLP, section 5.

    Examples
    --------
    >>> judged = verdicts([[1, 2], [1, 3]], [[5, 6], [6, 9]])
    >>> [right.tolist() for right in judged.right], judged.shares
    ([[[True], [True]]], [0.5])
    """
    calibrated = calibrated_accuracy(human, metric)
    h, m = grouped_rows(human, metric)
    right: list[Bools] = []
    shares: list[float] = []
    for rows, columns in by_size(h):
        ordered = np.sign(pair_gaps(h, rows, columns))
        right.append(ordered == _signs(pair_gaps(m, rows, columns), calibrated.epsilon))
        shares.append(1.0 / (ordered.shape[1] * calibrated.n_groups))
    return Verdicts(calibrated, right, shares)


def _signs(gaps: Floats, epsilon: float) -> Floats:
    return np.where(np.abs(gaps) <= epsilon, 0.0, np.sign(gaps))


def verdicts_test(
    first: Verdicts,
    second: Verdicts,
    *,
    seed: int,
    n_permutations: int = 1_000,
) -> MetricComparison:
    """Test one-sided whether the first metric's calibrated accuracy is better.

    Parameters
    ----------
    first, second : Verdicts
        Of two metrics on the same human scores.
    n_permutations : int
        At least 1. A swap exchanges all verdicts on an instance.

    Returns
    -------
    MetricComparison
        p = (1 + swaps that reach the difference) / (1 + swaps).

    Notes
    -----
    Pairs of one instance are dependent. Swapping them separately, as mt-metrics-eval
    does, ignores this: between equally good metrics with 10 systems it finds a difference
    at the 5% level in 17% of cases, with 30 systems in 26%; swapping by instance in 5%.

    References
    ----------
    Deutsch, Dror and Roth (2021), TACL 9, section 5 (PERM-INPUTS).
    """
    rng = np.random.default_rng(seed)
    difference = 0.0
    reached = np.zeros(n_permutations)
    for a, b, share in zip(first.right, second.right, first.shares, strict=True):
        gaps = np.count_nonzero(a, axis=1) - np.count_nonzero(b, axis=1)
        difference += share * int(gaps.sum())
        drawn = random_swaps(rng, n_permutations, len(gaps))
        reached += share * np.concatenate([(2 * one - 1) @ gaps for one in drawn])
    n_reached = int(np.count_nonzero(reached >= difference - 1e-12))
    return MetricComparison(
        float(difference),
        (n_reached + 1) / (n_permutations + 1),
    )


# Metrics ranked by their agreement with people, in clusters of similar metrics.
@dataclass(frozen=True)
class MetricRanking:
    """Ranked metrics, in clusters based on tests of all pairs.

    Parameters
    ----------
    order : list of int
        Metrics from best to worst, by number.
    ranks : list of int
        Cluster of each metric in the original order, 1 being the best.
    p_values : ndarray, shape (m, m)
        Entry i, j, in the original order, for i ranked above j: one-sided p-value of "i
        follows people better than j"; NaN elsewhere.
    """

    order: list[int]
    ranks: list[int]
    p_values: Floats


def rank_metrics(
    values: npt.ArrayLike, p_better: Callable[[int, int], float]
) -> MetricRanking:
    """Test all pairs of metrics and cut the ranking into clusters.

    Parameters
    ----------
    values : array_like, shape (m,)
        How well each metric agrees with people; NaN (undefined) ranks last.
    p_better : callable
        From two metrics, by number, to the one-sided p-value of "the first is better";
        called once for each pair, with the better one first.

    References
    ----------
    Freitag et al. (2022), Results of WMT22 Metrics Shared Task, section 5: down the
    ranking, a metric opens the next cluster when some metric of the current one beats
    it; the rule is mt-metrics-eval's ``AssignRanks``.
    """
    scores = np.asarray(values, dtype=np.float64)
    order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
    m = len(scores)
    p = np.full((m, m), np.nan)
    for position, i in enumerate(order.tolist()):
        for j in order[position + 1 :].tolist():
            p[i, j] = p_better(i, j)
    ranks = _clusters(p[np.ix_(order, order)])
    back = np.empty(m, dtype=int)
    back[order] = ranks
    return MetricRanking(order.tolist(), [int(rank) for rank in back], p)


def _clusters(p: Floats) -> list[int]:
    ranks: list[int] = []
    start = 0
    for position in range(len(p)):
        # one metric of the cluster that beats it is sufficient (WMT22, section 5)
        if (p[start:position, position] <= ALPHA).any():
            start = position
            ranks.append(ranks[-1] + 1)
        else:
            ranks.append(ranks[-1] if ranks else 1)
    return ranks
