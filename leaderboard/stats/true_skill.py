"""TrueSkill: systems as players, comparisons as games, ties as draws.

Beliefs depend on the order of the games and are relative, so the result is the
difference of each system's mean belief to that of all systems, averaged over random
orders. Its error is computed by resampling workers: games of one worker, or of one
page, are dependent, although TrueSkill's own sigma treats them as independent.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.stats.comparisons import Comparisons, Ints
from leaderboard.stats.intervals import Floats
from leaderboard.stats.turns import BETA, MU, SIGMA, Games, play

__all__ = ["BETA", "MU", "N_ORDERS", "N_RESAMPLES", "SIGMA", "Skills", "true_skill"]

N_ORDERS = 20
N_RESAMPLES = 200
# Games in all orders that are stored at once.
_MOST_AT_ONCE = 20_000_000
_FEWEST_RESAMPLES = 2
# Beliefs that differ by less are equal up to rounding.
_SAME = 1e-8


@dataclass(frozen=True)
class Skills:
    """TrueSkill's estimates of systems, and their variation with other workers.

    Parameters
    ----------
    differences : ndarray, shape (s,)
        Mean belief of each system minus that of all systems; new systems start with a
        standard deviation of 25/3.
    errors : ndarray, shape (s, s)
        Standard errors: of each difference to the mean on the diagonal, of the
        difference of two systems beside it. Infinite with one worker.
    freedom : float
        Degrees of freedom of these: the effective number of workers,
        minus one.
    shares : ndarray, shape (s, s)
        Entry i, j: share of resamples in which i is above j, ties counting one
        half.
    by_order : ndarray, shape (s, o)
        The differences of each order, of which `differences` are the means.
    """

    differences: Floats
    errors: Floats
    freedom: float
    shares: Floats
    n_workers: int
    by_order: Floats

    def interval(self, i: int, *, confidence: float = 0.95) -> Interval:
        """Return a system's difference to the mean."""
        from scipy import stats

        reach = float(stats.t.ppf((1 + confidence) / 2, self.freedom))
        reach *= float(self.errors[i, i])
        value = float(self.differences[i])
        return Interval(value, value - reach, value + reach)

    @property
    def ranks_by_order(self) -> Ints:
        """The rank of each system in each order, ties the same; shape (s, o)."""
        better = self.by_order[None, :, :] > self.by_order[:, None, :] + _SAME
        return np.asarray(1 + better.sum(axis=1), dtype=np.int64)

    @property
    def rank_kept(self) -> Floats:
        """The share of orders in which a system has its mean rank; shape (s,)."""
        better = self.differences[None, :] > self.differences[:, None] + _SAME
        rank = 1 + better.sum(axis=1)
        return np.asarray((self.ranks_by_order == rank[:, None]).mean(axis=1))

    @property
    def p_above(self) -> Floats:
        """The probability that the row's system is above the column's; shape (s, s)."""
        from scipy import stats

        gap = self.differences[:, None] - self.differences[None, :]
        gap = np.where(np.abs(gap) <= _SAME, 0.0, gap)
        t = np.where(gap > 0, np.inf, -np.inf)
        np.divide(gap, self.errors, out=t, where=self.errors > 0)
        t[gap == 0] = 0.0
        return np.asarray(stats.t.cdf(t, self.freedom), dtype=np.float64)


def true_skill(
    games: Comparisons,
    workers: npt.ArrayLike,
    *,
    seed: int,
    n_orders: int = N_ORDERS,
    n_resamples: int = N_RESAMPLES,
    draw_probability: float = 0.1,
) -> Skills:
    """Play the games in random orders, and again with workers drawn with replacement.

    Parameters
    ----------
    workers : array_like, shape (m,)
        The worker of each comparison, or another cluster such as the page.
    seed : int
        Seed of orders and resamples; the order of the games and the workers' names
        do not matter.
    n_orders, n_resamples : int
        Orders to average over, at least 1, and resamples of workers, at least 2.
    draw_probability : float
        Probability of a draw between equals, 0 <= p < 1; it sets the draw margin. With
        0 no game may be a tie.

    Notes
    -----
    A game of two has a closed-form update, applied to all orders and resamples at once.
    Systems do not learn: nothing is added to their variance between games.

    References
    ----------
    Herbrich, Minka and Graepel (2006), TrueSkill, equations 4-5 and table 1; Sakaguchi,
    Post and Van Durme (2014) for systems as players; Field and Welsh (2007), JRSS B 69,
    section 3 (drawing clusters).
    """
    if n_orders < 1 or n_resamples < _FEWEST_RESAMPLES:
        raise ValueError(
            "At least one order and two resamples are needed, not "
            f"{n_orders} and {n_resamples}."
        )
    table = _by_worker(games, workers)
    rng = np.random.default_rng(seed)
    margin = _margin(draw_probability)
    columns = chain(_orders(table, n_orders, rng), _resamples(table, n_resamples, rng))
    beliefs = _play_games(table, columns, margin)
    beliefs -= beliefs.mean(axis=0)
    plain, drawn = beliefs[:, :n_orders], beliefs[:, n_orders:]
    n_workers = len(table.sizes)
    shares = table.sizes / max(len(games.first), 1)
    effective = 1 / float((shares**2).sum()) if n_workers else 1.0
    return Skills(
        plain.mean(axis=1),
        _errors(drawn, n_workers),
        max(effective - 1, 1.0),
        _shares_above(drawn),
        n_workers,
        plain.copy(),
    )


@dataclass(frozen=True)
class _Games(Games):
    # number of games of each worker
    sizes: Ints


def _by_worker(games: Comparisons, workers: npt.ArrayLike) -> _Games:
    labels = np.asarray(workers)
    lost = (games.outcome < 0) | ((games.outcome == 0) & (games.first > games.second))
    winner = np.where(lost, games.second, games.first)
    loser = np.where(lost, games.first, games.second)
    drawn = games.outcome == 0
    _, worker = np.unique(labels, return_inverse=True)
    key = (winner * games.n_systems + loser) * 2 + drawn
    order = np.lexsort((key, worker))
    sizes = np.bincount(worker[order]) if len(order) else np.zeros(0, dtype=np.int64)
    # workers are ordered by their games: a pseudonym has no effect
    parts = np.split(order, np.cumsum(sizes)[:-1]) if len(order) else []
    parts = sorted(parts, key=lambda part: (len(part), key[part].tolist()))
    order = np.concatenate([order[:0], *parts])
    return _Games(
        winner[order],
        loser[order],
        drawn[order],
        games.n_systems,
        np.array([len(part) for part in parts], dtype=np.int64),
    )


def _orders(table: _Games, n: int, rng: np.random.Generator) -> Iterator[Ints]:
    for _ in range(n):
        yield rng.permutation(len(table.winner))


def _resamples(table: _Games, n: int, rng: np.random.Generator) -> Iterator[Ints]:
    n_workers = len(table.sizes)
    starts = np.cumsum(table.sizes) - table.sizes
    for _ in range(n):
        who = rng.integers(0, n_workers, n_workers) if n_workers else starts
        sizes = table.sizes[who]
        shift = starts[who] - (np.cumsum(sizes) - sizes)
        yield rng.permutation(np.repeat(shift, sizes) + np.arange(sizes.sum()))


def _play_games(table: _Games, columns: Iterator[Ints], margin: float) -> Floats:
    """Play each column's games, as many columns at once as memory allows."""
    at_once = max(1, _MOST_AT_ONCE // max(len(table.winner), 1))
    found = []
    while batch := list(islice(columns, at_once)):
        # resamples differ in length: the shorter are padded with a dummy game
        longest = max(len(column) for column in batch)
        order = np.full((longest, len(batch)), len(table.winner), dtype=np.int64)
        for index, column in enumerate(batch):
            order[: len(column), index] = column
        found.append(play(table, order, margin))
    return np.concatenate(found, axis=1)


def _margin(draw_probability: float) -> float:
    from scipy import special

    return float(special.ndtri((draw_probability + 1) / 2) * np.sqrt(2) * BETA)


def _errors(drawn: Floats, n_workers: int) -> Floats:
    if n_workers < 2:
        return np.full((len(drawn), len(drawn)), np.inf)
    covariance = np.atleast_2d(np.cov(drawn))
    own = np.diag(covariance)
    pairs = own[:, None] + own[None, :] - 2 * covariance
    np.fill_diagonal(pairs, own)
    # the variance of resamples of n workers is (n - 1) / n of that of n new workers
    factor = n_workers / (n_workers - 1)
    return np.asarray(np.sqrt(np.maximum(pairs, 0.0) * factor))


def _shares_above(drawn: Floats) -> Floats:
    n_systems = len(drawn)
    shares = np.empty((n_systems, n_systems))
    for i in range(n_systems):
        above = np.mean(drawn[i] > drawn, axis=1)
        shares[i] = (above + np.mean(drawn[i] >= drawn, axis=1)) / 2
    return shares
