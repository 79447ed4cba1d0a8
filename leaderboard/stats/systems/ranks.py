"""One ranking rule: simultaneous comparisons of all pairs under one model.

A system ranks below another only if the difference of their estimates is significant
after Holm's correction for the number of pairs, so that with 95% confidence no system
is wrongly placed above another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats
from leaderboard.stats.multiplicity import holm, significance_clusters
from leaderboard.stats.ranking import RankRange
from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.stats.systems.table import rating_table

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
        with 95% confidence.
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
) -> Ranking:
    """Rank systems by simultaneous comparisons.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6; Mogstad, Romano, Shaikh and
    Wilhelm (2024), Review of Economic Studies 91(1), section 3 (ranks from simultaneous
    differences); Bojar et al. (2016), Findings of WMT16, section 3.4 (clusters).
    """
    names = estimates.systems if systems is None else list(systems)
    places = [estimates.systems.index(name) for name in names]
    return rank_by_p(
        names,
        estimates.means[places],
        estimates.p_values[np.ix_(places, places)],
    )


def rank_by_p(
    systems: Sequence[str],
    means: npt.ArrayLike,
    p_values: npt.ArrayLike,
) -> Ranking:
    """Rank systems by the p-values of their differences.

    Parameters
    ----------
    means : array_like, shape (s,)
        Higher is better.
    p_values : array_like, shape (s, s)
        Two-sided, each pair by itself; symmetric.
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
    better: npt.NDArray[np.bool_] = np.triu(adjusted <= ALPHA, 1)
    ranks = [
        RankRange(1 + int(better[:, i].sum()), n - int(better[i].sum()))
        for i in range(n)
    ]
    clusters = significance_clusters(values[order], better) if n else []
    return Ranking([systems[i] for i in order], ranks, clusters, adjusted)


def comparison_reach(estimates: SystemEstimates, ranking: Ranking) -> dict[str, float]:
    """Return the half-width of each system's comparison interval.

    Intervals of two systems that do not overlap are of a pair that the ranking separates;
    as far as possible, intervals that overlap are of one that it does not.

    References
    ----------
    Firth and de Menezes (2004), Biometrika 91(1) (quasi-variances).
    """
    from scipy import optimize

    places = [estimates.systems.index(name) for name in ranking.systems]
    variance = estimates.variance[np.ix_(places, places)]
    finite: npt.NDArray[np.bool_] = np.isfinite(variance)
    np.fill_diagonal(finite, False)
    scale = variance[finite].max(initial=0.0)
    if scale <= 0:
        return {}
    a, b = np.nonzero(np.triu(finite))
    logs = np.log(np.maximum(variance[a, b] / scale, 1e-9))

    def misfit(x: Floats) -> Floats:
        return np.asarray(np.logaddexp(x[a], x[b]) - logs)

    found = optimize.least_squares(misfit, np.full(len(places), -0.7))
    reach = np.exp(found.x / 2) * scale**0.5
    means = estimates.means[places]
    ratios = np.abs(means[a] - means[b]) / (reach[a] + reach[b])
    apart = ranking.p_values[a, b] <= ALPHA
    # 1.4 for equal variances of two systems at a level of 5%
    within = min(1.4, ratios[apart].min(initial=np.inf) * (1 - 1e-6))
    reach *= max(within, ratios[~apart].max(initial=0.0))
    rows = zip(ranking.systems, reach.tolist(), finite, strict=True)
    return {name: half for name, half, known in rows if known.any()}


# Unpaired rank-sum tests of all pairs of systems, with the clusters of WMT's findings.
#
# WMT publishes mean z-scores with these tests and clusters. Systems need not have been
# rated on the same segments. Segments are taken as independent, so shared workers are not
# covered: `leaderboard.stats.systems.ranks` is the rule that covers them.
@dataclass(frozen=True)
class RankSumRanking:
    """Systems by their means, best first, as in WMT's tables.

    Parameters
    ----------
    systems : list of str
        Highest mean first; equal ones by name.
    means : ndarray, shape (s,)
        Of the segments' scores.
    n_segments : ndarray of int, shape (s,)
    p_values : ndarray, shape (s, s)
        Entry i, j: one-sided p-value of "i scores higher than j"; 1 on the diagonal.
    """

    systems: list[str]
    means: Floats
    n_segments: npt.NDArray[np.int64]
    p_values: Floats

    @property
    def wins(self) -> npt.NDArray[np.int64]:
        """The number of systems that each one beats at the level of the test."""
        return np.asarray((self.p_values < ALPHA).sum(axis=1))

    @cached_property
    def clusters(self) -> list[RankRange]:
        """The first and last rank of each system's cluster."""
        return wmt_clusters(self.p_values < ALPHA)

    def keep_systems(self, systems: Collection[str]) -> RankSumRanking:
        """Keep these systems; the other systems' tests do not change."""
        kept = [i for i, name in enumerate(self.systems) if name in set(systems)]
        return replace(
            self,
            systems=[self.systems[i] for i in kept],
            means=self.means[kept],
            n_segments=self.n_segments[kept],
            p_values=self.p_values[np.ix_(kept, kept)],
        )

    def divide(self, groups: Mapping[str, int]) -> RankSumRanking:
        group = np.array([groups[name] for name in self.systems])
        kept = np.where(group[:, None] == group, self.p_values, 1.0)
        return replace(self, p_values=kept)

    def ranking(self) -> Ranking:
        """Return it as a board's ranking: ranks are those of a system's cluster.

        The p-value of a pair is that of its system with the higher mean.
        """
        lasts = sorted({cluster.last for cluster in self.clusters})
        above = np.triu(self.p_values, 1)
        p_values = above + above.T
        np.fill_diagonal(p_values, 1.0)
        return Ranking(
            self.systems,
            self.clusters,
            [1 + lasts.index(cluster.last) for cluster in self.clusters],
            p_values,
        )


def rank_sum_ranking(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    segments: npt.ArrayLike,
) -> RankSumRanking:
    """Rank systems by mean segment scores and cluster them by rank-sum tests.

    Parameters
    ----------
    values, systems, segments : array_like, shape (n,)
        Ratings, and the system and segment of each. WMT uses z-scores, see
        `leaderboard.stats.rater_effects.worker_z_scores`. Ratings of one segment of one
        system are averaged first.

    References
    ----------
    Bojar et al. (2016), Findings of WMT16, section 3.4; Kocmi et al. (2022), Findings of
    WMT22, section 6.
    """
    # segments in the place of workers, so that their ratings are averaged
    table = rating_table(values, systems, segments)
    cell = table.worker * table.n_systems + table.system
    _, cells, counts = np.unique(cell, return_inverse=True, return_counts=True)
    means = np.bincount(cells, table.values) / counts
    of = np.empty(len(counts), dtype=np.intp)
    of[cells] = table.system
    scores = [np.sort(means[of == i]) for i in range(table.n_systems)]
    averages = np.array([each.mean() for each in scores])
    order = np.lexsort((np.arange(len(averages)), -averages))
    scores = [scores[i] for i in order]
    return RankSumRanking(
        [table.systems[i] for i in order],
        averages[order],
        np.array([len(each) for each in scores]),
        rank_sum_p_values(scores),
    )


def rank_sum_p_values(scores: list[Floats]) -> Floats:
    """Test for all pairs whether one system's scores are higher than another's.

    Parameters
    ----------
    scores : list of ndarray
        Of each system; finite, at least one.

    Returns
    -------
    ndarray, shape (s, s)
        Entry i, j: p-value of "i higher than j" (Mann and Whitney, normal approximation
        with ties and continuity correction); 1 on the diagonal and for equal scores.

    References
    ----------
    Mann and Whitney (1947), Annals of Mathematical Statistics 18; Lehmann (1975),
    Nonparametrics, section 1.4 (ties).
    """
    from scipy import special, stats

    n_systems = len(scores)
    p_values = np.ones((n_systems, n_systems))
    for i in range(n_systems):
        for j in range(i + 1, n_systems):
            m, n = len(scores[i]), len(scores[j])
            ranks = stats.rankdata(np.concatenate([scores[i], scores[j]]))
            u = float(ranks[:m].sum()) - m * (m + 1) / 2
            ties = np.unique(ranks, return_counts=True)[1].astype(np.float64)
            total = m + n
            spread = (ties**3 - ties).sum() / (total * (total - 1))
            variance = m * n / 12 * (total + 1 - spread)
            if variance <= 1e-12 * m * n:
                continue
            gap = u - m * n / 2
            # continuity correction: half a step towards the null mean
            ends = np.array([gap - 0.5, -gap - 0.5]) / variance**0.5
            p_values[i, j], p_values[j, i] = special.ndtr(-ends)
    return p_values


def wmt_clusters(better: npt.ArrayLike) -> list[RankRange]:
    """Cut a ranking below rank i if its system has as many wins as systems below it.

    Parameters
    ----------
    better : array_like of bool, shape (s, s)
        Entry i, j: system i is significantly better than j, systems best first.

    Returns
    -------
    list of RankRange
        First and last rank of each system's cluster.

    Notes
    -----
    WMT's published rule: wins = total - rank. It counts every win of the system at the
    cut, also one over a system above it, and no other system's;
    `leaderboard.stats.multiplicity.significance_clusters` requires every system above
    to beat every system below.

    References
    ----------
    Kocmi et al. (2022), Findings of WMT22, tables of direct assessment into English.
    """
    wins = np.asarray(better, dtype=bool)
    n = len(wins)
    n_wins = (wins & ~np.eye(n, dtype=bool)).sum(axis=1)
    # the last cluster ends with the table, whatever its last system won
    cuts = [rank for rank in range(1, n) if n_wins[rank - 1] == n - rank] + [n] * (
        n > 0
    )
    clusters: list[RankRange] = []
    for cut in cuts:
        clusters += [RankRange(len(clusters) + 1, cut)] * (cut - len(clusters))
    return clusters
