"""A ranking under weights over criteria that a reader chose, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.all_pairs import as_table, resample_systems
from leaderboard.stats.intervals import check_confidence
from leaderboard.stats.ranking import RankRange, rank_ranges
from leaderboard.stats.resampling import Floats


@dataclass(frozen=True)
class Resampled:
    """Means of every system on every criterion, and the same in resamples.

    Parameters
    ----------
    means : ndarray, shape (s, c)
        Mean over the instances, in the unit of the ratings.
    draws : ndarray, shape (s, c, r)
        Means over instances drawn with replacement, the same for all systems and
        criteria: sums over criteria keep how these go together.
    n_instances : int
        How many instances all systems have in common.
    """

    means: Floats
    draws: Floats
    n_instances: int


@dataclass(frozen=True)
class Weighted:
    """One system under the weights.

    Parameters
    ----------
    estimate, low, high : float
        Weighted mean and its percentile interval, in the unit of the ratings.
    ranks : RankRange
        Ranks that the intervals leave open.
    p_first : float
        Share of resamples in which the system leads, leaders that tie sharing it.
    """

    estimate: float
    low: float
    high: float
    ranks: RankRange
    p_first: float


def resampled(
    values: npt.ArrayLike, *, seed: int, n_resamples: int = 2_000
) -> Resampled:
    """Draw instances with replacement, once for all systems and criteria.

    Parameters
    ----------
    values : array_like, shape (n, s, c)
        Rating of each system on each criterion of each instance; finite.
    seed : int
        Seed of the resampling.
    n_resamples : int
        Number of resamples, at least 1.

    Returns
    -------
    Resampled

    Raises
    ------
    ValueError
        When a rating is missing, or there is none.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 9.5
    (resampling whole rows keeps the dependence between columns).

    Examples
    --------
    >>> drawn = resampled([[[1.0, 0.0]], [[3.0, 0.0]]], seed=1, n_resamples=5)
    >>> drawn.means.tolist(), drawn.draws.shape
    ([[2.0, 0.0]], (1, 2, 5))
    """
    cube = np.asarray(values, dtype=np.float64)
    if cube.ndim != 3 or cube.size == 0:
        raise ValueError("The ratings must be instances by systems by criteria.")
    n, n_systems, n_criteria = cube.shape
    table = as_table(cube.reshape(n, n_systems * n_criteria))
    columns, drawn = resample_systems(table, n_resamples, seed)
    draws = np.empty_like(drawn)
    # resample_systems orders columns by their values; back into the caller's order
    draws[columns] = drawn
    return Resampled(
        table.mean(axis=0).reshape(n_systems, n_criteria),
        draws.reshape(n_systems, n_criteria, n_resamples),
        n,
    )


def weigh(
    resampled: Resampled, weights: npt.ArrayLike, *, confidence: float = 0.95
) -> list[Weighted]:
    """Rank systems by a weighted mean of the criteria.

    Parameters
    ----------
    resampled : Resampled
    weights : array_like, shape (c,)
        At least 0 and not all 0; only their ratios matter.
    confidence : float
        Of the intervals.

    Returns
    -------
    list of Weighted
        In the order of the systems.

    Raises
    ------
    ValueError
        On wrong weights or a wrong confidence.

    Examples
    --------
    >>> drawn = resampled([[[1.0, 0.0], [0.0, 1.0]]] * 9, seed=1, n_resamples=5)
    >>> [str(row.ranks) for row in weigh(drawn, [3, 1])]
    ['1', '2']
    >>> weigh(drawn, [1, 1])[0].p_first
    0.5
    """
    check_confidence(confidence)
    chosen = np.asarray(weights, dtype=np.float64)
    wrong = chosen.shape != (resampled.means.shape[1],) or not np.isfinite(chosen).all()
    if wrong or (chosen < 0).any() or not chosen.sum() > 0:
        raise ValueError("Give one weight per criterion, none negative and not all 0.")
    shares = chosen / chosen.sum()
    estimates = resampled.means @ shares
    draws = np.einsum("scr,c->sr", resampled.draws, shares)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(draws, tails, axis=1)
    # rounding in the sum is no difference between two systems
    rounded = np.round(draws, 9)
    leads = rounded == rounded.max(axis=0)
    p_first = (leads / leads.sum(axis=0)).mean(axis=1)
    # a percentile interval of few resamples can miss its own estimate
    low, high = np.minimum(low, estimates), np.maximum(high, estimates)
    return [
        Weighted(float(e), float(lo), float(hi), ranks, float(p))
        for e, lo, hi, ranks, p in zip(
            estimates, low, high, rank_ranges(low, high), p_first, strict=True
        )
    ]
