"""TrueSkill: systems as players, comparisons as games, ties as draws.

Beliefs depend on the order of the games and have no zero of their own, so what is given
is how far each system's mean belief lies from that of all systems, averaged over random
orders. How sure that is comes from drawing workers again: games of one worker, or of one
page, are not independent, and TrueSkill's own sigma takes them as if they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.comparisons import Comparisons, Ints
from leaderboard.stats.intervals import check_confidence
from leaderboard.stats.resampling import Floats

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2
N_ORDERS = 20
N_RESAMPLES = 200
# Games in all orders that are laid out at once.
_MOST_AT_ONCE = 20_000_000
_FEWEST_RESAMPLES = 2


@dataclass(frozen=True)
class Skills:
    """What TrueSkill makes of systems, and how it would vary with other workers.

    Parameters
    ----------
    differences : ndarray, shape (s,)
        Mean belief of each system minus that of all systems; new systems start with a
        standard deviation of 25/3.
    errors : ndarray, shape (s, s)
        Standard errors: of each difference to the mean on the diagonal, of the
        difference of two systems beside it. Infinite with one worker.
    freedom : float
        Degrees of freedom of these: as many equally busy workers as weigh the same,
        less one.
    shares : ndarray, shape (s, s)
        Entry i, j: share of resamples in which i comes out above j, ties counting one
        half.
    n_workers : int
    """

    differences: Floats
    errors: Floats
    freedom: float
    shares: Floats
    n_workers: int

    def interval(self, i: int, *, confidence: float = 0.95) -> tuple[float, float]:
        """Give the ends of the interval of a system's difference to the mean."""
        from scipy import stats

        check_confidence(confidence)
        reach = float(stats.t.ppf((1 + confidence) / 2, self.freedom))
        reach *= float(self.errors[i, i])
        return float(self.differences[i]) - reach, float(self.differences[i]) + reach

    @property
    def p_above(self) -> Floats:
        """Probability that the row's system is above the column's; shape (s, s)."""
        from scipy import stats

        gap = self.differences[:, None] - self.differences[None, :]
        gap = np.where(np.abs(gap) <= 1e-9 * SIGMA, 0.0, gap)
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
    games : Comparisons
    workers : array_like, shape (m,)
        Who made each comparison; or whatever else was drawn whole, such as the page.
    seed : int
        Seed of orders and resamples; how the games are listed and workers are called
        does not matter.
    n_orders, n_resamples : int
        Orders to average over, at least 1, and resamples of workers, at least 2.
    draw_probability : float
        Probability of a draw between equals, 0 <= p < 1; it sets the draw margin. With
        0 no game may be a tie.

    Returns
    -------
    Skills

    Raises
    ------
    ValueError
        On a wrong number or probability, labels that do not fit, or ties where none may
        be.

    Notes
    -----
    A game of two has a closed-form update, applied to all orders and resamples at once.
    Systems do not learn: nothing is added to their variance between games.

    References
    ----------
    Herbrich, Minka and Graepel (2006), TrueSkill, equations 4-5 and table 1; Sakaguchi,
    Post and Van Durme (2014) for systems as players; Field and Welsh (2007), JRSS B 69,
    section 3 (drawing clusters).

    Examples
    --------
    >>> from leaderboard.stats.comparisons import compare
    >>> games = compare([0] * 40, [1] * 40, [1, 1, 0, -1] * 10, 2)
    >>> skills = true_skill(games, np.repeat(range(10), 4), seed=1)
    >>> skills.differences.round(1).tolist(), skills.shares[0, 1].item()
    ([0.8, -0.8], 1.0)
    """
    _check(games, n_orders, n_resamples, draw_probability)
    table = _by_worker(games, workers)
    rng = np.random.default_rng(seed)
    margin = _margin(draw_probability)
    plain = np.concatenate(
        [_play(table, order, margin) for order in _orders(table, n_orders, rng)], axis=1
    )
    drawn = np.concatenate(
        [_play(table, order, margin) for order in _resamples(table, n_resamples, rng)],
        axis=1,
    )
    for beliefs in (plain, drawn):
        beliefs -= beliefs.mean(axis=0)
    n_workers = len(table.sizes)
    shares = table.sizes / max(len(games.first), 1)
    effective = 1 / float((shares**2).sum()) if n_workers else 1.0
    return Skills(
        plain.mean(axis=1),
        _errors(drawn, n_workers),
        max(effective - 1, 1.0),
        _shares_above(drawn),
        n_workers,
    )


@dataclass(frozen=True)
class _Games:
    """Games worker by worker, the winner first, in an order that labels don't change."""

    winner: Ints
    loser: Ints
    drawn: npt.NDArray[np.bool_]
    n_systems: int
    # how many games of each worker
    sizes: Ints


def _by_worker(games: Comparisons, workers: npt.ArrayLike) -> _Games:
    labels = np.asarray(workers)
    if labels.shape != games.first.shape:
        raise ValueError("Every comparison needs the worker who made it.")
    lost = (games.outcome < 0) | ((games.outcome == 0) & (games.first > games.second))
    winner = np.where(lost, games.second, games.first)
    loser = np.where(lost, games.first, games.second)
    drawn = games.outcome == 0
    _, worker = np.unique(labels, return_inverse=True)
    key = (winner * games.n_systems + loser) * 2 + drawn
    order = np.lexsort((key, worker))
    sizes = np.bincount(worker[order]) if len(order) else np.zeros(0, dtype=np.int64)
    # workers are told apart by their games: a pseudonym changes nothing
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
    """Give all games in random orders, an order a column, as many as fit."""
    n_games = len(table.winner)
    at_once = max(1, _MOST_AT_ONCE // max(n_games, 1))
    for start in range(0, n, at_once):
        columns = [rng.permutation(n_games) for _ in range(min(at_once, n - start))]
        yield np.stack(columns, axis=1)


def _resamples(table: _Games, n: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Give the games of workers drawn with replacement, in random orders.

    Resamples have different numbers of games: shorter ones are filled up with a game
    of nobody, which is numbered after the last.
    """
    n_games, n_workers = len(table.winner), len(table.sizes)
    starts = np.cumsum(table.sizes) - table.sizes
    at_once = max(1, _MOST_AT_ONCE // max(2 * n_games, 1))
    for start in range(0, n, at_once):
        columns = []
        for _ in range(min(at_once, n - start)):
            who = rng.integers(0, n_workers, n_workers) if n_workers else starts
            sizes = table.sizes[who]
            shift = starts[who] - (np.cumsum(sizes) - sizes)
            games = np.repeat(shift, sizes) + np.arange(sizes.sum())
            columns.append(rng.permutation(games))
        longest = max(len(column) for column in columns)
        filled = np.full((longest, len(columns)), n_games, dtype=np.int64)
        for index, column in enumerate(columns):
            filled[: len(column), index] = column
        yield filled


def _play(table: _Games, order: Ints, margin: float) -> Floats:
    """Play the games of all columns at once; give the mean beliefs, shape (s, c)."""
    n_columns = order.shape[1]
    # two more players for the game of nobody
    n_players = table.n_systems + 2
    winner = np.append(table.winner, table.n_systems) * n_columns
    loser = np.append(table.loser, table.n_systems + 1) * n_columns
    drawn = np.append(table.drawn, False)
    mu = np.full(n_players * n_columns, MU)
    variance = np.full(n_players * n_columns, SIGMA**2)
    column = np.arange(n_columns)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for games in order:
            i, j = winner[games] + column, loser[games] + column
            v_i, v_j = variance[i], variance[j]
            total = v_i + v_j + 2 * BETA**2
            root = np.sqrt(total)
            t = (mu[i] - mu[j]) / root
            v, w = _win(t - margin / root)
            tied = drawn[games]
            if tied.any():
                v_drawn, w_drawn = _draw(t, margin / root)
                v, w = np.where(tied, v_drawn, v), np.where(tied, w_drawn, w)
            v /= root
            w /= total
            mu[i] += v_i * v
            mu[j] -= v_j * v
            variance[i] = v_i * (1 - v_i * w)
            variance[j] = v_j * (1 - v_j * w)
    return mu.reshape(n_players, n_columns)[: table.n_systems].copy()


def _win(x: Floats) -> tuple[Floats, Floats]:
    """Give v and w of Herbrich et al. for a win by x more than the margin."""
    from scipy import special

    # density over distribution by erfcx: the plain ratio is 0/0 far out
    v = np.sqrt(2 / np.pi) / special.erfcx(-x / np.sqrt(2))
    return v, v * (v + x)


def _draw(t: Floats, edge: Floats) -> tuple[Floats, Floats]:
    """Give v and w of Herbrich et al. for a draw."""
    from scipy import special

    size = np.abs(t)
    upper, lower = edge - size, -edge - size
    # all over the density at the upper end, which is the larger one
    ratio = np.exp(-2 * edge * size)
    mills = special.erfcx(-np.stack([upper, lower]) / np.sqrt(2)) * np.sqrt(np.pi / 2)
    mass = mills[0] - ratio * mills[1]
    v = (ratio - 1) / mass
    return v * np.sign(t), v**2 + (upper - lower * ratio) / mass


def _margin(draw_probability: float) -> float:
    from scipy import special

    return float(special.ndtri((draw_probability + 1) / 2) * np.sqrt(2) * BETA)


def _errors(drawn: Floats, n_workers: int) -> Floats:
    """Give standard errors of differences to the mean and of pairs."""
    if n_workers < 2:
        return np.full((len(drawn), len(drawn)), np.inf)
    covariance = np.atleast_2d(np.cov(drawn))
    own = np.diag(covariance)
    pairs = own[:, None] + own[None, :] - 2 * covariance
    np.fill_diagonal(pairs, own)
    # resamples of n workers vary by (n - 1) / n of what n new workers would
    factor = n_workers / (n_workers - 1)
    return np.asarray(np.sqrt(np.maximum(pairs, 0.0) * factor))


def _shares_above(drawn: Floats) -> Floats:
    n_systems = len(drawn)
    shares = np.empty((n_systems, n_systems))
    for i in range(n_systems):
        above = np.mean(drawn[i] > drawn, axis=1)
        shares[i] = (above + np.mean(drawn[i] >= drawn, axis=1)) / 2
    return shares


def _check(
    games: Comparisons, n_orders: int, n_resamples: int, draw_probability: float
) -> None:
    if n_orders < 1 or n_resamples < _FEWEST_RESAMPLES:
        raise ValueError(
            "At least one order and two resamples are needed, not "
            f"{n_orders} and {n_resamples}."
        )
    if not 0 <= draw_probability < 1:
        raise ValueError(
            f"The draw probability must be in [0, 1), not {draw_probability}."
        )
    if draw_probability == 0 and (games.outcome == 0).any():
        raise ValueError("There are ties; give a draw probability above 0.")
