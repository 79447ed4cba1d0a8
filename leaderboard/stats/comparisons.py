"""Preferences between systems: wins, ties and losses, from any kind of question."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of two systems each, in the order they were made.

    Parameters
    ----------
    first, second : ndarray of int, shape (m,)
        Systems compared, numbered from 0; a system is never compared with itself.
    outcome : ndarray of int, shape (m,)
        1 if the first was preferred, 0 for a tie, -1 if the second was.
    n_systems : int
        Number of systems, compared or not.
    row : ndarray of int, shape (m,)
        The judgment of each; comparisons of one judgment are not independent.
    """

    first: Ints
    second: Ints
    outcome: Ints
    n_systems: int
    row: Ints

    @cached_property
    def wins(self) -> Ints:
        """Entry i, j: how often system i was preferred to system j; shape (s, s)."""
        over, under = self.outcome == 1, self.outcome == -1
        winners = np.concatenate([self.first[over], self.second[under]])
        losers = np.concatenate([self.second[over], self.first[under]])
        return self._count(winners, losers)

    @cached_property
    def ties(self) -> Ints:
        """Entry i, j: how often systems i and j tied; symmetric, shape (s, s)."""
        level = self.outcome == 0
        counts = self._count(self.first[level], self.second[level])
        return counts + counts.T

    def _count(self, one: Ints, other: Ints) -> Ints:
        n = self.n_systems
        counts = np.bincount(one * n + other, minlength=n * n)
        return counts.reshape(n, n).astype(np.int64)

    def win_tie_loss(self, i: int, j: int) -> tuple[int, int, int]:
        """Count how often system i won against, tied with and lost to system j."""
        wins = self.wins
        return int(wins[i, j]), int(self.ties[i, j]), int(wins[j, i])


def compare(
    first: npt.ArrayLike, second: npt.ArrayLike, outcome: npt.ArrayLike, n_systems: int
) -> Comparisons:
    """Make comparisons from lists."""
    a, b, c = (np.asarray(each, dtype=np.int64) for each in (first, second, outcome))
    return Comparisons(a, b, c, n_systems, np.arange(len(a)))


def comparisons_from_table(table: npt.ArrayLike) -> Comparisons:
    """Convert ratings made side by side into comparisons of all pairs.

    Parameters
    ----------
    table : array_like, shape (n, s)
        A row per judgment (one worker, one instance) and a column per system; NaN
        if a system was not shown.

    Returns
    -------
    Comparisons
        Row by row; within a row pairs in the order of the columns.

    References
    ----------
    Novikova, Dušek and Rieser (2018), RankME, section 5.1 (magnitudes used as win,
    loss and tie).
    """
    ratings = np.asarray(table, dtype=np.float64)
    if np.isinf(ratings).any():
        raise ValueError("The ratings must be finite numbers, or NaN where not shown.")
    shown = ~np.isnan(ratings)
    n_shown = shown.sum(axis=1)
    first, second, row = [], [], []
    # group judgments by their number of systems: most pairs of many were not shown
    for n in np.unique(n_shown[n_shown > 1]):
        judgments = np.flatnonzero(n_shown == n)
        systems = np.nonzero(shown[judgments])[1].reshape(-1, n)
        one, other = np.triu_indices(n, k=1)
        first.append(systems[:, one].ravel())
        second.append(systems[:, other].ravel())
        row.append(np.repeat(judgments, len(one)))
    nothing = np.zeros(0, dtype=np.int64)
    rows = np.concatenate([nothing, *row])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    one, other = (np.concatenate([nothing, *f])[order] for f in (first, second))
    outcome = np.sign(ratings[rows, one] - ratings[rows, other]).astype(np.int64)
    return Comparisons(one, other, outcome, ratings.shape[1], rows)
