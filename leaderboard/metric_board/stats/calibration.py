"""Pairwise accuracy with tie calibration.

People tie outputs; metrics rarely give two outputs the same number. To treat both kinds
of metric alike, the difference below which the metric "ties" is chosen to maximize the
agreement with people.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.pairs import (
    agreement,
    average_groups,
    grouped_rows,
    pair_counts,
)
from leaderboard.stats.intervals import Floats

Ints = npt.NDArray[np.intp]

#: More pairs would need gigabytes.
MAX_PAIRS = 20_000_000


@dataclass(frozen=True)
class Calibrated:
    """A metric's pairwise accuracy at its best epsilon.

    Parameters
    ----------
    accuracy : float
        Mean over groups of the share of pairs that the metric orders, or ties, as
        people do; in [0, 1], NaN without pairs.
    epsilon : float
        Differences up to this are ties; the smallest of equally good ones.
    accuracy_without : float
        Accuracy with epsilon 0.
    per_group : ndarray, shape (g,)
        Accuracy at `epsilon`, NaN in a group without pairs.
    n_groups, n_pairs : int
        Groups with at least one pair, and their pairs.
    """

    accuracy: float
    epsilon: float
    accuracy_without: float
    per_group: Floats
    n_groups: int
    n_pairs: int


def calibrated_accuracy(human: npt.ArrayLike, metric: npt.ArrayLike) -> Calibrated:
    """Compute a metric's pairwise accuracy at the best epsilon.

    Parameters
    ----------
    human, metric : array_like, shape (s, n)
        Scores of s systems on n instances; NaN if people gave none. Higher is better.

    Raises
    ------
    ValueError
        On more than `MAX_PAIRS` pairs; see also `grouped_rows`.

    Notes
    -----
    Epsilon is chosen on the pairs used for evaluation, as in the paper; the gain over
    `accuracy_without` is slightly optimistic with few pairs. Each pair adds a fixed amount
    to the mean when it turns from ordered to tied, so one sort by difference and a running
    sum cover every epsilon.

    References
    ----------
    Deutsch, Foster and Freitag (2023), Ties Matter, EMNLP, section 5 (acc*_eq); all
    pairs are used, as with mt-metrics-eval's sample rate of 1.
    """
    h, m = grouped_rows(human, metric)
    gaps, gains, start, n_groups, n_pairs = _pairs(h, m)
    if not n_pairs:
        return Calibrated(np.nan, 0.0, np.nan, np.full(len(h), np.nan), 0, 0)
    order = np.argsort(gaps)
    gaps = gaps[order]
    running = start + np.cumsum(gains[order])
    # all pairs with equal differences have turned only if the next difference is larger
    last = np.append(gaps[1:] > gaps[:-1], True)
    epsilons, values = gaps[last], running[last]
    if epsilons[0] > 0:
        epsilons, values = np.append(0.0, epsilons), np.append(start, values)
    # argmax returns the first true one: the smallest of equally good epsilons
    epsilon = float(epsilons[int(np.argmax(values >= values.max() - 1e-12))])
    accuracy = average_groups(agreement(pair_counts(h, m, epsilon=epsilon), "acc-eq"))
    plain = start if epsilon else accuracy.value
    return Calibrated(
        accuracy.value, epsilon, plain, accuracy.per_group, n_groups, n_pairs
    )


def by_size(h: Floats) -> Iterator[tuple[Ints, Ints]]:
    """Yield rows with equally many scores together, and the places of these scores.

    Parameters
    ----------
    h : ndarray, shape (g, k)
        NaN without a score.

    Yields
    ------
    rows : ndarray of int, shape (r,)
    places : ndarray of int, shape (r, size)
        Columns with a score, ascending; size is at least 2.

    Examples
    --------
    >>> [(r.tolist(), p.tolist()) for r, p in by_size(np.array([[1, np.nan, 3.0]]))]
    [([0], [[0, 2]])]
    """
    n_rated = np.count_nonzero(~np.isnan(h), axis=1)
    for size in np.unique(n_rated[n_rated >= 2]).tolist():
        rows = np.flatnonzero(n_rated == size)
        yield rows, np.argsort(np.isnan(h[rows]), axis=1, kind="stable")[:, :size]


def pair_gaps(table: Floats, rows: Ints, columns: Ints) -> Floats:
    """Return the differences of all pairs, each pair once, shape (r, size (size - 1) / 2).

    Parameters
    ----------
    table : ndarray, shape (g, k)
    rows, columns : ndarray of int, shapes (r,) and (r, size)
        See `by_size`.

    Examples
    --------
    >>> pair_gaps(np.array([[1.0, 2.0, 4.0]]), np.array([0]), np.array([[0, 1, 2]]))
    array([[-1., -3., -2.]])
    """
    scores = np.take_along_axis(table[rows], columns, axis=1)
    first, second = np.triu_indices(columns.shape[1], k=1)
    return np.asarray(scores[:, first] - scores[:, second])


def _pairs(h: Floats, m: Floats) -> tuple[Floats, Floats, float, int, int]:
    """Return differences, the gain in the mean from tying each pair, and the mean before."""
    n_rated = np.count_nonzero(~np.isnan(h), axis=1)
    per_row = n_rated * (n_rated - 1) // 2
    if per_row.sum() > MAX_PAIRS:
        raise ValueError(f"{per_row.sum():,} pairs are too many to calibrate on.")
    n_groups = int(np.count_nonzero(per_row))
    gaps: list[Floats] = [np.zeros(0)]
    gains: list[Floats] = [np.zeros(0)]
    start = 0.0
    for rows, columns in by_size(h):
        gap_h, gap_m = pair_gaps(h, rows, columns), pair_gaps(m, rows, columns)
        right = np.sign(gap_h) == np.sign(gap_m)
        share = 1.0 / (gap_h.shape[1] * n_groups)
        gaps.append(np.abs(gap_m).ravel())
        # tying a pair gains if people tie it, and loses if the order was right
        gains.append(share * ((gap_h == 0).astype(np.float64) - right).ravel())
        start += share * float(np.count_nonzero(right))
    n_pairs = int(per_row.sum())
    return np.concatenate(gaps), np.concatenate(gains), start, n_groups, n_pairs
