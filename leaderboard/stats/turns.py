"""TrueSkill's games of two, played in many orders at once.

Consecutive games without a common system are independent: they form a turn and are
played together, as are the turns of all orders. The beliefs are the same as if the
games had been played one by one.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from leaderboard.stats.comparisons import Ints
from leaderboard.stats.intervals import Floats

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2
# Games of each order that are sorted into turns at once: twice as many turns must fit
# into 16 bits, which are sorted without comparisons.
_AT_ONCE = 4096
# Range of the table of density over distribution, and its cells per unit: a cubic in
# each is exact to 1e-10. Below, at a surprise of 16 sigma, it is computed.
_LOW, _HIGH, _CELLS = -16.0, 9.0, 64


@dataclass(frozen=True)
class Games:
    """Games with the winner first, of systems numbered from 0.

    Parameters
    ----------
    winner, loser : ndarray of int, shape (m,)
    drawn : ndarray of bool, shape (m,)
        Whether the game was a draw.
    """

    winner: Ints
    loser: Ints
    drawn: npt.NDArray[np.bool_]
    n_systems: int


def play(games: Games, order: Ints, margin: float) -> Floats:
    """Play games in many orders; return the mean beliefs after the last game.

    Parameters
    ----------
    order : ndarray of int, shape (n, c)
        An order a column, by the games' places; a place after the last is no game and
        pads shorter columns.
    margin : float
        Draw margin, >= 0, in units of performance.

    Returns
    -------
    ndarray, shape (s, c)
        Mean belief of each system; 25 without games.

    References
    ----------
    Herbrich, Minka and Graepel (2006), TrueSkill, equations 4-5 and table 1.
    """
    n_columns = order.shape[1]
    # two more players for the dummy game
    n_players = games.n_systems + 2
    winner = np.append(games.winner, games.n_systems) * n_columns
    loser = np.append(games.loser, games.n_systems + 1) * n_columns
    drawn = np.append(games.drawn, False)
    mu = np.full(n_players * n_columns, MU)
    variance = np.full(n_players * n_columns, SIGMA**2)
    column = np.arange(n_columns)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for start in range(0, len(order), _AT_ONCE):
            piece = order[start : start + _AT_ONCE]
            won, lost = winner[piece] + column, loser[piece] + column
            turn = _turns(won, lost, len(mu)) + drawn[piece]
            sequence = np.argsort(turn, axis=None, kind="stable")
            players = np.stack([won.ravel()[sequence], lost.ravel()[sequence]])
            ends = np.cumsum(np.bincount(turn.ravel())).tolist()
            # wins of a turn, then its draws
            for low, middle, high in zip(
                ends[1:-1:2], ends[2::2], [*ends[3::2], ends[-1]], strict=False
            ):
                _update(mu, variance, players[:, low:high], middle - low, margin)
    return mu.reshape(n_players, n_columns)[: games.n_systems].copy()


def _turns(won: Ints, lost: Ints, n: int) -> npt.NDArray[np.uint16]:
    last = np.zeros(n, dtype=np.uint16)
    turn = np.empty(won.shape, dtype=np.uint16)
    for now, i, j in zip(turn, won, lost, strict=True):
        np.maximum(last[i], last[j], out=now)
        now += 2
        last[i] = now
        last[j] = now
    return turn


def _update(
    mu: Floats, variance: Floats, players: Ints, n_won: int, margin: float
) -> None:
    means, spread = mu[players], variance[players]
    total = spread[0] + spread[1]
    total += 2 * BETA**2
    root = np.sqrt(total)
    t = means[0] - means[1]
    t /= root
    v, w = _corrections(t, margin / root, n_won)
    v /= root
    w /= total
    moved = spread * v
    means[0] += moved[0]
    means[1] -= moved[1]
    mu[players] = means
    kept = spread * w
    np.subtract(1, kept, out=kept)
    kept *= spread
    variance[players] = kept


def _corrections(t: Floats, edge: Floats, n_won: int) -> tuple[Floats, Floats]:
    n = len(t)
    size, half = np.abs(t[n_won:]), edge[n_won:]
    x = np.empty(2 * n - n_won)
    np.subtract(t[:n_won], edge[:n_won], out=x[:n_won])
    upper, lower = x[n_won:n], x[n:]
    np.subtract(half, size, out=upper)
    np.subtract(-half, size, out=lower)
    ratios = _density_over_distribution(x)
    v = ratios[:n]
    w = v * (v + x[:n])
    if n_won < n:
        # relative to the density at the upper end, which is the larger one
        ratio = np.exp(-2 * half * size)
        mass = 1 / v[n_won:] - ratio / ratios[n:]
        drawn = (ratio - 1) / mass
        w[n_won:] = drawn**2 + (upper - lower * ratio) / mass
        v[n_won:] = drawn * np.sign(t[n_won:])
    return v, w


def _density_over_distribution(x: Floats) -> Floats:
    """Return the standard normal density over its distribution, right to 1e-10."""
    if x.size and x.min() < _LOW:
        return _exactly(x)
    place = np.minimum(x, _HIGH)
    place -= _LOW
    place *= _CELLS
    cell = place.astype(np.intp)
    place -= cell
    constant, slope, square, cube = _table()
    found: Floats = cube[cell]
    for coefficients in (square, slope, constant):
        found *= place
        found += coefficients[cell]
    return found


@cache
def _table() -> tuple[Floats, Floats, Floats, Floats]:
    x = _LOW + np.arange(int((_HIGH - _LOW) * _CELLS) + 2) / _CELLS
    value = _exactly(x)
    slope = -value * (value + x) / _CELLS
    rise, here, there = np.diff(value), slope[:-1], slope[1:]
    return value[:-1], here, 3 * rise - 2 * here - there, here + there - 2 * rise


def _exactly(x: Floats) -> Floats:
    from scipy import special

    # by erfcx: the plain ratio is 0/0 in the far tail
    return np.asarray(np.sqrt(2 / np.pi) / special.erfcx(-x / np.sqrt(2)))
