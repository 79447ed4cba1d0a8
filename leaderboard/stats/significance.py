"""From many comparisons to one picture: clusters, and the custom of the field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.all_pairs import compare_all
from leaderboard.stats.resampling import Floats


def significance_clusters(estimates: npt.ArrayLike, better: npt.ArrayLike) -> list[int]:
    """Cut the ranking wherever all above the cut beat all below it.

    Parameters
    ----------
    estimates : array_like, shape (s,)
        Higher is better, no NaN.
    better : array_like of bool, shape (s, s)
        Entry i, j: system i is significantly better than system j.

    Returns
    -------
    list of int
        Cluster of each system in the order given, 1 being the best. Systems of one
        cluster are not all told apart; two of them may be.

    Raises
    ------
    ValueError
        When shapes do not fit, an estimate is NaN, or two systems beat each other.

    References
    ----------
    Bojar et al. (2016), Findings of WMT16, section 3.4 (clusters); Novikova, Dušek and
    Rieser (2018), RankME, table 4.

    Examples
    --------
    >>> beats = [[False, False, True], [False, False, True], [False, False, False]]
    >>> significance_clusters([0.8, 0.7, 0.1], beats)
    [1, 1, 2]
    """
    scores = np.asarray(estimates, dtype=np.float64)
    wins = np.asarray(better, dtype=bool)
    if scores.ndim != 1 or wins.shape != (len(scores), len(scores)):
        raise ValueError("Each pair of systems needs one entry: who is better.")
    if np.isnan(scores).any():
        raise ValueError("An estimate is NaN; cluster only systems with a score.")
    if (wins & wins.T).any():
        raise ValueError("Two systems cannot each be better than the other.")
    order = np.argsort(-scores, kind="stable")
    wins = wins[np.ix_(order, order)]
    clusters = np.empty(len(scores), dtype=int)
    current = 1
    for position, system in enumerate(order):
        # all pairs across the cut, as WMT has it: one unsure pair keeps a cluster
        # together
        if position and wins[:position, position:].all():
            current += 1
        clusters[system] = current
    return [int(c) for c in clusters]


@dataclass(frozen=True)
class BootstrapRanking:
    """Systems ranked by their means and cut where the paired bootstrap is sure.

    Parameters
    ----------
    clusters : list of int
        Cluster of each system, 1 being the best.
    means : ndarray, shape (s,)
        Mean of each system.
    p_above : ndarray, shape (s, s)
        Share of resamples in which the row's system is above the column's.
    """

    clusters: list[int]
    means: Floats
    p_above: Floats


def bootstrap_ranking(
    scores: npt.ArrayLike, *, seed: int, n_resamples: int = 10_000, share: float = 0.95
) -> BootstrapRanking:
    """Rank systems by the paired bootstrap, one-sided, as is usual in the field.

    Parameters
    ----------
    scores : array_like, shape (n, s)
        Rating of each system (across) on each instance or judgement (down). Give
        logarithms to rank by geometric means.
    seed : int
        Seed of the resampling.
    n_resamples : int
        Number of resamples, at least 1.
    share : float
        A system is better than another when above it in at least this share of
        resamples; 0.5 < share <= 1.

    Returns
    -------
    BootstrapRanking

    Raises
    ------
    ValueError
        See `leaderboard.stats.all_pairs.as_table`; also on a wrong share.

    Notes
    -----
    One-sided shares uncorrected for the number of pairs claim more than a two-sided
    test at the same level, and instances are all that is drawn again;
    `leaderboard.stats.systems.ranks` promises what holds jointly and for other workers.

    References
    ----------
    Koehn (2004), section 4.2; Novikova, Dušek and Rieser (2018), RankME, section 5.

    Examples
    --------
    >>> table = np.random.default_rng(1).random((300, 3)) + [0.0, 0.5, 0.5]
    >>> bootstrap_ranking(table, seed=1).clusters
    [2, 1, 1]
    """
    if not 0.5 < share <= 1:
        raise ValueError(f"The share must lie above 0.5 and at most at 1, not {share}.")
    all_pairs = compare_all(scores, seed=seed, n_resamples=n_resamples)
    clusters = significance_clusters(all_pairs.means, all_pairs.p_above >= share)
    return BootstrapRanking(clusters, all_pairs.means, all_pairs.p_above)
