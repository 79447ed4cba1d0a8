"""One ranking rule: simultaneous comparisons of all pairs under one model.

A system ranks below another only if the difference of their estimates is significant
after Holm's correction for the number of pairs, so that with 95% confidence no system
is wrongly placed above another.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.multiplicity import holm
from leaderboard.stats.ranking import RankRange
from leaderboard.stats.resampling import Floats
from leaderboard.stats.significance import significance_clusters
from leaderboard.stats.systems.estimates import SystemEstimates

ALPHA = 0.05


@dataclass(frozen=True)
class Ranking:
    """Systems compared with each other, best first.

    Parameters
    ----------
    systems : list of str
        Best estimate first; equal ones by name.
    ranks : list of RankRange
        The possible ranks of each; by simultaneous comparisons, all sets hold at once
        with confidence 1 - alpha.
    clusters : list of int
        1 for the best; every system of a cluster is significantly better than every
        system of the next.
    p_values : ndarray, shape (s, s)
        In the order of `systems`, symmetric; 1 on the diagonal. By simultaneous
        comparisons two-sided and adjusted for all pairs.
    """

    systems: list[str]
    ranks: list[RankRange]
    clusters: list[int]
    p_values: Floats

    def rank_of(self, system: str) -> RankRange:
        return self.ranks[self.systems.index(system)]

    def cluster_of(self, system: str) -> int:
        return self.clusters[self.systems.index(system)]

    def p_value(self, a: str, b: str) -> float:
        i, j = self.systems.index(a), self.systems.index(b)
        return float(self.p_values[i, j])


def rank_systems(
    estimates: SystemEstimates,
    systems: Sequence[str] | None = None,
    *,
    alpha: float = ALPHA,
) -> Ranking:
    """Rank systems by simultaneous comparisons.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6; Mogstad, Romano, Shaikh and
    Wilhelm (2024), Review of Economic Studies 91(1), section 3 (ranks from simultaneous
    differences); Bojar et al. (2016), Findings of WMT16, section 3.4 (clusters).

    Examples
    --------
    >>> from leaderboard.stats.systems.estimates import estimate_systems
    >>> rng = np.random.default_rng(1)
    >>> system = np.repeat([0, 1, 2], 200)
    >>> ratings = np.array([50, 51, 80])[system] + rng.normal(0, 10, 600)
    >>> estimates = estimate_systems(ratings, system, np.tile(np.arange(20), 30))
    >>> ranking = rank_systems(estimates)
    >>> ranking.systems, [str(rank) for rank in ranking.ranks], ranking.clusters
    (['2', '1', '0'], ['1', '2-3', '2-3'], [1, 2, 2])
    """
    names = estimates.systems if systems is None else list(systems)
    places = [estimates.systems.index(name) for name in names]
    return rank_by_p(
        names,
        estimates.means[places],
        estimates.p_values[np.ix_(places, places)],
        alpha=alpha,
    )


def rank_by_p(
    systems: Sequence[str],
    means: npt.ArrayLike,
    p_values: npt.ArrayLike,
    *,
    alpha: float = ALPHA,
) -> Ranking:
    """Rank systems by the p-values of their differences.

    Parameters
    ----------
    means : array_like, shape (s,)
        Higher is better.
    p_values : array_like, shape (s, s)
        Two-sided, each pair by itself; symmetric.

    Examples
    --------
    >>> ranking = rank_by_p(["a", "b"], [1.0, 2.0], [[1, 0.01], [0.01, 1]])
    >>> ranking.systems, [str(rank) for rank in ranking.ranks]
    (['b', 'a'], ['1', '2'])
    """
    values = np.asarray(means, dtype=np.float64)
    order = np.array(
        sorted(range(len(systems)), key=lambda i: (-values[i], systems[i])), dtype=int
    )
    n = len(order)
    adjusted = np.ones((n, n))
    upper = np.triu_indices(n, 1)
    if len(upper[0]):
        raw = np.asarray(p_values, dtype=np.float64)[np.ix_(order, order)]
        adjusted[upper] = holm(raw[upper])
        adjusted = np.minimum(adjusted, adjusted.T)
    # better: significantly, and with the higher estimate
    better: npt.NDArray[np.bool_] = np.triu(adjusted <= alpha, 1)
    ranks = [
        RankRange(1 + int(better[:, i].sum()), n - int(better[i].sum()))
        for i in range(n)
    ]
    clusters = significance_clusters(values[order], better) if n else []
    return Ranking([systems[i] for i in order], ranks, clusters, adjusted)
