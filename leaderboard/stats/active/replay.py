"""Runs played again: labels drawn pair by pair from what people once said."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.active.deciding import Deciding, Labels, Truths
from leaderboard.stats.active.propensities import Propensities
from leaderboard.stats.comparisons import Comparisons, Ints
from leaderboard.stats.resampling import Floats


class Pool:
    """Labels that people once gave, pair by pair, to be drawn again.

    Parameters
    ----------
    games : Comparisons
    workers : array_like, shape (m,)
        Who made each comparison.
    seed : int
    once : bool
        Whether each label can be drawn once only; with replacement otherwise, as of a
        crowd that says what this one said.
    null : bool
        Whether each label that is drawn is for either side alike, as if all systems were
        equal.
    """

    def __init__(
        self,
        games: Comparisons,
        workers: npt.ArrayLike,
        *,
        seed: int,
        once: bool = False,
        null: bool = False,
    ) -> None:
        self._games, self.n_systems = games, games.n_systems
        self._once, self._null = once, null
        _, self._worker = np.unique(np.asarray(workers), return_inverse=True)
        one = np.minimum(games.first, games.second)
        other = np.maximum(games.first, games.second)
        pairs, self._pair = np.unique(
            one * games.n_systems + other, return_inverse=True
        )
        #: the systems of each pair, shape (p,)
        self.one, self.other = np.divmod(pairs, games.n_systems)
        self._size = np.bincount(self._pair)
        self._start = np.cumsum(self._size) - self._size
        self._label = np.argsort(self._pair, kind="stable")
        self._begin(seed)

    def _begin(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._used = np.zeros_like(self._size)
        if self._once:
            mixed = self._rng.permutation(len(self._pair))
            self._label = mixed[np.argsort(self._pair[mixed], kind="stable")]

    def again(self, seed: int) -> Pool:
        """Give the same labels, none of them drawn, to be drawn with another seed."""
        pool = copy(self)
        pool._begin(seed)
        return pool

    @property
    def left(self) -> npt.NDArray[np.bool_]:
        """Whether each pair has a label left, shape (p,)."""
        return self._size > self._used

    def draw(self, numbers: Ints, propensities: Floats) -> Labels:
        """Draw so many labels of each pair, or as many as are left."""
        if self._once:
            numbers = np.minimum(numbers, self._size - self._used)
            within = np.arange(numbers.sum())
            within -= np.repeat(np.cumsum(numbers) - numbers, numbers)
            within += np.repeat(self._used, numbers)
            self._used = self._used + numbers
        else:
            share = self._rng.random(numbers.sum())
            within = (share * np.repeat(self._size, numbers)).astype(np.int64)
        drawn = self._label[np.repeat(self._start, numbers) + within]
        outcome = self._games.outcome[drawn]
        if self._null:
            outcome = outcome * (1 - 2 * self._rng.integers(0, 2, len(outcome)))
        first, second = self._games.first[drawn], self._games.second[drawn]
        return Labels(first, second, outcome, self._worker[drawn], propensities)


def with_tastes(
    games: Comparisons, workers: npt.ArrayLike, *, seed: int
) -> Comparisons:
    """Name systems anew for each worker: equal systems, and workers with their tastes.

    Parameters
    ----------
    games : Comparisons
    workers : array_like, shape (m,)
        Who made each comparison.
    seed : int

    Returns
    -------
    Comparisons
        No system is better than another for workers in general, but each worker prefers
        some as much as before.

    Examples
    --------
    >>> from leaderboard.stats.comparisons import compare
    >>> named = with_tastes(compare([0, 0], [1, 1], [1, 1], 3), ["v", "v"], seed=1)
    >>> named.wins.max()
    np.int64(2)
    """
    _, worker = np.unique(np.asarray(workers), return_inverse=True)
    rng = np.random.default_rng(seed)
    n_workers = int(worker.max()) + 1 if len(worker) else 0
    names = np.argsort(rng.random((n_workers, games.n_systems)), axis=1)
    return Comparisons(
        names[worker, games.first],
        names[worker, games.second],
        games.outcome,
        games.n_systems,
        games.row,
    )


@dataclass(frozen=True)
class Run:
    """What was decided after each batch of labels.

    Parameters
    ----------
    n_labels : ndarray of int, shape (b,)
        Labels after each batch.
    better : list of ndarray of bool, shape (s, s)
        What was decided by then: entry i, j where i is better than j.
    """

    n_labels: Ints
    better: list[Truths]

    @property
    def n_decided(self) -> Ints:
        """Pairs decided after each batch."""
        return np.array([after.sum() for after in self.better])

    def labels_until(self, n_decided: int) -> float:
        """Give the labels after which so many pairs were decided; infinite if never."""
        there = np.flatnonzero(self.n_decided >= n_decided)
        return float(self.n_labels[there[0]]) if len(there) else float("inf")

    def at(self, n_labels: float) -> Truths:
        """Give what was decided after at most so many labels."""
        batch = int(np.searchsorted(self.n_labels, n_labels, side="right")) - 1
        return self.better[batch] if batch >= 0 else np.zeros_like(self.better[0])


def replay(
    pool: Pool,
    deciding: Deciding,
    choose: Propensities,
    *,
    n_labels: int,
    batch: int,
    seed: int,
) -> Run:
    """Ask for labels batch by batch, each of a pair that is drawn first.

    Parameters
    ----------
    pool : Pool
        A pair that has no labels left is not asked about.
    deciding : Deciding
        New; takes the labels.
    choose : callable
        Gives the propensities before each batch.
    n_labels, batch : int
        Labels at most, and of a batch; at least 1.
    seed : int
        Draws the pairs.

    Returns
    -------
    Run
        It ends early once all pairs are decided, or no label is left.

    Raises
    ------
    ValueError
        When there are no labels, or on numbers below 1.

    Examples
    --------
    >>> from leaderboard.stats.active.deciding import PairByPair, clusters_of
    >>> from leaderboard.stats.active.propensities import soonest
    >>> from leaderboard.stats.comparisons import compare
    >>> games = compare([0, 0, 0, 1], [1, 1, 2, 2], [1, -1, 1, 1], 3)
    >>> deciding = PairByPair(3, delta=0.05)
    >>> pool = Pool(games, range(4), seed=1)
    >>> run = replay(pool, deciding, soonest, n_labels=300, batch=30, seed=1)
    >>> clusters_of(run.better[-1])
    [1, 1, 2]
    """
    if n_labels < 1 or batch < 1 or not len(pool.one):
        raise ValueError(
            "A replay needs labels to draw from, and at least one to draw."
        )
    rng = np.random.default_rng(seed)
    after: list[int] = []
    better: list[Truths] = []
    n_drawn = 0
    while n_drawn < n_labels and not (better and better[-1].sum() == len(pool.one)):
        wanted = choose(deciding)[pool.one, pool.other] * pool.left
        if not wanted.sum():
            break
        chances = wanted / wanted.sum()
        propensities = np.zeros((pool.n_systems, pool.n_systems))
        propensities[pool.one, pool.other] = chances
        propensities += propensities.T
        numbers = rng.multinomial(min(batch, n_labels - n_drawn), chances)
        labels = pool.draw(numbers, propensities)
        better.append(deciding.add(labels))
        n_drawn += len(labels.first)
        after.append(n_drawn)
    return Run(np.array(after), better)
