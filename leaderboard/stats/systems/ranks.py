"""One ranking rule: simultaneous comparisons of all pairs under one model.

A system ranks below another only where the difference of their estimates is significant
after Holm's correction for the number of pairs, so that with 95 % confidence no system
is wrongly placed above another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.multiplicity import holm
from leaderboard.stats.ranking import RankRange
from leaderboard.stats.resampling import Floats
from leaderboard.stats.significance import significance_clusters
from leaderboard.stats.systems.estimates import Difference, SystemEstimates

ALPHA = 0.05


@dataclass(frozen=True)
class Ranking:
    """Systems compared with each other, best first.

    Parameters
    ----------
    systems : list of str
        Best estimate first; equal ones by name.
    ranks : list of RankRange
        The ranks that each may hold; all sets hold at once with confidence 1 - alpha.
    clusters : list of int
        1 for the best; every system of a cluster is significantly better than every
        system of the next.
    differences : dict of (str, str) to Difference
        Of each pair, the better-looking system first.
    p_values : ndarray, shape (s, s)
        Two-sided and adjusted for all pairs, in the order of `systems`; 1 on the
        diagonal.
    """

    systems: list[str]
    ranks: list[RankRange]
    clusters: list[int]
    differences: dict[tuple[str, str], Difference]
    p_values: Floats

    def rank_of(self, system: str) -> RankRange:
        return self.ranks[self.systems.index(system)]

    def cluster_of(self, system: str) -> int:
        return self.clusters[self.systems.index(system)]


def rank_systems(
    estimates: SystemEstimates,
    systems: Sequence[str] | None = None,
    *,
    alpha: float = ALPHA,
) -> Ranking:
    """Rank systems by simultaneous comparisons.

    Parameters
    ----------
    estimates : SystemEstimates
    systems : sequence of str, optional
        Whom to rank; all unless given.
    alpha : float
        Probability that any pair is wrongly told apart, at most.

    Returns
    -------
    Ranking

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
    mean_of = dict(zip(estimates.systems, estimates.means.tolist(), strict=True))
    order = sorted(names, key=lambda name: (-mean_of[name], name))
    differences = {
        (a, b): estimates.difference(a, b, confidence=1 - alpha)
        for i, a in enumerate(order)
        for b in order[i + 1 :]
    }
    raw = [difference.p_value for difference in differences.values()]
    n = len(order)
    p_values = np.ones((n, n))
    upper = np.triu_indices(n, 1)
    p_values[upper] = holm(raw) if raw else []
    p_values = np.minimum(p_values, p_values.T)
    # better: significantly, and with the higher estimate
    better: npt.NDArray[np.bool_] = np.triu(p_values <= alpha, 1)
    ranks = [
        RankRange(1 + int(better[:, i].sum()), n - int(better[i].sum()))
        for i in range(n)
    ]
    means = [mean_of[name] for name in order]
    clusters = significance_clusters(means, better) if n else []
    return Ranking(order, ranks, clusters, differences, p_values)
