"""From many comparisons to one picture: clusters and sets of ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.all_pairs import (
    as_table,
    compare_all,
    difference_errors,
    resample_systems,
)
from leaderboard.stats.intervals import check_confidence
from leaderboard.stats.ranking import RankRange
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
    test at the same level; `rank_confidence_sets` promises what holds jointly.

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


def rank_confidence_sets(
    scores: npt.ArrayLike,
    *,
    seed: int,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    joint: bool = True,
) -> list[RankRange]:
    """Give the ranks that each system may truly hold.

    Parameters
    ----------
    scores : array_like, shape (n, s)
        Rating of each system (across) on each instance (down); finite.
    seed : int
        Seed of the resampling.
    n_resamples : int
        Number of resamples, at least 1.
    confidence : float
        Probability that the sets hold.
    joint : bool
        True: all systems' sets hold at once with this confidence. False: each
        system's own, which is narrower and right for asking about one system only.

    Returns
    -------
    list of RankRange
        In the order of the columns. first = 1 + systems surely better, last = s -
        systems surely worse, by simultaneous intervals of the differences.

    Raises
    ------
    ValueError
        See `leaderboard.stats.all_pairs.as_table`.

    Notes
    -----
    The intervals are studentised differences with the bootstrapped quantile of their
    largest; systems that differ by the same amount on every instance are told apart,
    identical ones never are.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for Ranks, Review of Economic
    Studies 91(1), theorems 3.1 and 3.3 (one step).

    Examples
    --------
    >>> table = np.random.default_rng(1).random((400, 3)) + [0.0, 0.02, 0.5]
    >>> [str(r) for r in rank_confidence_sets(table, seed=1)]
    ['2-3', '2-3', '1']
    """
    check_confidence(confidence)
    table = as_table(scores)
    n_systems = table.shape[1]
    columns, means = resample_systems(table, n_resamples, seed)
    table = table[:, columns]
    centre = np.sort(table, axis=0).mean(axis=0)
    errors = difference_errors(table)
    largest = _largest_deviations(means, centre, errors, joint)
    reach = np.quantile(largest, confidence, axis=-1)
    gap = centre[:, None] - centre[None, :]
    # differences of rounding are none, also where the error is 0
    edge = 1e-9 * max(float(np.ptp(table)), 1e-300)
    beats = gap > np.maximum(np.reshape(reach, (-1, 1)) * errors, edge)
    beaten = -gap > np.maximum(np.reshape(reach, (-1, 1)) * errors, edge)
    ranges: list[RankRange] = [RankRange(1, 1)] * n_systems
    for position, system in enumerate(columns):
        ranges[system] = RankRange(
            1 + int(beaten[position].sum()), n_systems - int(beats[position].sum())
        )
    return ranges


def _largest_deviations(
    means: Floats, centre: Floats, errors: Floats, joint: bool
) -> Floats:
    """Give the largest studentised deviation of a resample, of all pairs or per row."""
    n_systems, n_resamples = means.shape
    moved = means - centre[:, None]
    largest = np.zeros((1 if joint else n_systems, n_resamples))
    for i in range(n_systems):
        others = [
            j
            for j in range(i + 1 if joint else 0, n_systems)
            if j != i and errors[i, j] > 0
        ]
        if not others:
            continue
        deviations = np.abs(moved[i] - moved[others]) / errors[i, others][:, None]
        row = 0 if joint else i
        np.maximum(largest[row], deviations.max(axis=0), out=largest[row])
    return largest
