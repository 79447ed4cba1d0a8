"""Runs played again: labels drawn pair by pair from what people once said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.active.deciding import Deciding, Labels, Truths
from leaderboard.stats.active.propensities import Propensities
from leaderboard.stats.comparisons import Comparisons
from leaderboard.stats.resampling import Floats


@dataclass(frozen=True)
class Run:
    """One run: what was decided after each batch.

    Parameters
    ----------
    n_labels : ndarray of int, shape (b,)
        Labels after each batch.
    n_decided : ndarray of int, shape (b,)
        Pairs decided by then.
    better : list of ndarray of bool, shape (s, s)
        What was decided by then: entry i, j where i is better than j.
    clusters : list of int
        At the end, as `Deciding.clusters`.
    """

    n_labels: npt.NDArray[np.int64]
    n_decided: npt.NDArray[np.int64]
    better: list[Truths]
    clusters: list[int]

    def labels_until(self, n_decided: int) -> float:
        """Give the labels after which so many pairs were decided; infinite if never."""
        there = np.flatnonzero(self.n_decided >= n_decided)
        return float(self.n_labels[there[0]]) if len(there) else float("inf")

    def at(self, n_labels: int) -> Truths:
        """Give what was decided after at most so many labels."""
        batch = int(np.searchsorted(self.n_labels, n_labels, side="right")) - 1
        return self.better[batch] if batch >= 0 else np.zeros_like(self.better[0])


def outcomes_of(games: Comparisons, *, null: bool = False) -> Floats:
    """Count the labels of each pair.

    Parameters
    ----------
    games : Comparisons
    null : bool
        Count each label for either side alike: systems are equal then, with as many ties.

    Returns
    -------
    ndarray, shape (s, s, 3)
        For i < j: labels that prefer i, neither, j; 0 elsewhere.

    Examples
    --------
    >>> from leaderboard.stats.comparisons import compare
    >>> games = compare([0, 1, 1], [1, 0, 0], [1, 0, -1], 2)
    >>> outcomes_of(games)[0, 1].tolist(), outcomes_of(games, null=True)[0, 1].tolist()
    ([2.0, 1.0, 0.0], [1.0, 1.0, 1.0])
    """
    wins, ties = games.wins, games.ties
    counts = np.stack([wins, ties, wins.T], axis=2).astype(np.float64)
    if null:
        counts[:, :, [0, 2]] = (counts[:, :, [0, 2]].sum(axis=2) / 2)[:, :, None]
    return np.asarray(counts * np.triu(np.ones_like(wins), 1)[:, :, None])


def replay(
    outcomes: npt.ArrayLike,
    deciding: Deciding,
    choose: Propensities,
    *,
    n_labels: int,
    batch: int,
    seed: int,
) -> Run:
    """Ask for labels batch by batch, each drawn from what was said of its pair.

    Parameters
    ----------
    outcomes : array_like, shape (s, s, 3)
        As `outcomes_of`; labels are drawn with replacement. A pair without any is not
        asked about.
    deciding : Deciding
        New; takes the labels.
    choose : callable
        Gives the propensities before each batch.
    n_labels, batch : int
        Labels at most, and of a batch; at least 1.
    seed : int

    Returns
    -------
    Run
        It ends early once all pairs are decided.

    Raises
    ------
    ValueError
        When no pair has labels, or on numbers below 1.

    Examples
    --------
    >>> from leaderboard.stats.active.deciding import PairByPair
    >>> from leaderboard.stats.active.propensities import soonest
    >>> outcomes = np.zeros((3, 3, 3))
    >>> outcomes[[0, 0, 1], [1, 2, 2]] = [[1, 0, 1], [9, 0, 1], [9, 0, 1]]
    >>> deciding = PairByPair(3, delta=0.05)
    >>> run = replay(outcomes, deciding, soonest, n_labels=300, batch=30, seed=1)
    >>> run.better[-1].astype(int).tolist(), run.clusters
    ([[0, 0, 1], [0, 0, 1], [0, 0, 0]], [1, 1, 2])
    """
    said = np.asarray(outcomes, dtype=np.float64)
    one, other = np.nonzero(said.sum(axis=2))
    if n_labels < 1 or batch < 1 or not len(one):
        raise ValueError(
            "A replay needs labels to draw from, and at least one to draw."
        )
    shares = said[one, other] / said[one, other].sum(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    after: list[int] = []
    better: list[Truths] = []
    while (after[-1] if after else 0) < n_labels:
        wanted = choose(deciding)[one, other]
        # what nobody was ever asked about takes no labels
        chances = wanted / wanted.sum()
        size = min(batch, n_labels - (after[-1] if after else 0))
        drawn = rng.multinomial(rng.multinomial(size, chances), shares)
        decided = deciding.add(_labels(one, other, drawn, chances, len(said)))
        after.append((after[-1] if after else 0) + size)
        better.append(decided)
        if decided.sum() == len(one):
            break
    return Run(
        np.array(after),
        np.array([decided.sum() for decided in better]),
        better,
        deciding.clusters,
    )


def _labels(
    one: npt.NDArray[np.intp],
    other: npt.NDArray[np.intp],
    drawn: npt.NDArray[np.int64],
    chances: Floats,
    n_systems: int,
) -> Labels:
    wins, ties, propensities = np.zeros((3, n_systems, n_systems))
    wins[one, other], wins[other, one] = drawn[:, 0], drawn[:, 2]
    ties[one, other] = ties[other, one] = drawn[:, 1]
    propensities[one, other] = propensities[other, one] = chances
    return Labels(wins, ties, propensities)


def n_wrong(runs: Sequence[Run]) -> int:
    """Count the runs in which anything was decided, which is wrong of equal systems."""
    return sum(int(run.n_decided[-1] > 0) for run in runs)
