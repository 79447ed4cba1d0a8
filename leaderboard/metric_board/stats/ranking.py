"""Metrics ranked by their agreement with people, in clusters of similar metrics."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from leaderboard.stats.multiplicity import holm
from leaderboard.stats.resampling import Floats

Correction = Literal["none", "holm"]


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
    values: npt.ArrayLike,
    p_better: Callable[[int, int], float],
    *,
    alpha: float = 0.05,
    correction: Correction = "none",
) -> MetricRanking:
    """Test all pairs of metrics and cut the ranking into clusters.

    Parameters
    ----------
    values : array_like, shape (m,)
        How well each metric agrees with people; NaN (undefined) ranks last.
    p_better : callable
        From two metrics, by number, to the one-sided p-value of "the first is better";
        called once for each pair, with the better one first.
    alpha : float
        Level of the tests, 0 < alpha < 1.
    correction : {"none", "holm"}
        ``none`` is usual in the field; with Holm's, all claims hold jointly.

    References
    ----------
    Freitag et al. (2022), Results of WMT22 Metrics Shared Task, section 5: down the
    ranking, a metric opens the next cluster when some metric of the current one beats
    it; the rule is mt-metrics-eval's ``AssignRanks``.

    Examples
    --------
    >>> ranking = rank_metrics([0.2, 0.9, 0.8], lambda i, j: 0.01 if j == 0 else 0.3)
    >>> ranking.order, ranking.ranks
    ([1, 2, 0], [2, 1, 1])
    """
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError("Each metric needs one value.")
    if not 0 < alpha < 1:
        raise ValueError(f"The level must lie between 0 and 1, not {alpha}.")
    order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
    m = len(scores)
    p = np.full((m, m), np.nan)
    for position, i in enumerate(order.tolist()):
        for j in order[position + 1 :].tolist():
            p[i, j] = p_better(i, j)
    tested = p.copy()
    if correction == "holm":
        tested_pairs = ~np.isnan(p)
        tested[tested_pairs] = holm(p[tested_pairs])
    ranks = _clusters(tested[np.ix_(order, order)], alpha)
    back = np.empty(m, dtype=int)
    back[order] = ranks
    return MetricRanking(order.tolist(), [int(rank) for rank in back], tested)


def _clusters(p: Floats, alpha: float) -> list[int]:
    ranks: list[int] = []
    start = 0
    for position in range(len(p)):
        # one metric of the cluster that beats it is sufficient (WMT22, section 5)
        if (p[start:position, position] <= alpha).any():
            start = position
            ranks.append(ranks[-1] + 1)
        else:
            ranks.append(ranks[-1] if ranks else 1)
    return ranks
