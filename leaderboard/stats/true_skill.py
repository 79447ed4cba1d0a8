"""TrueSkill: systems as players, comparisons as games, ties as draws."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from leaderboard.stats.comparisons import Comparisons, comparisons_from_table
from leaderboard.stats.resampling import Floats

with warnings.catch_warnings():
    # escapes in the library's docstrings, of which newer Pythons warn on compiling
    warnings.simplefilter("ignore")
    import trueskill

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2


@dataclass(frozen=True)
class Skill:
    """What TrueSkill believes of a system.

    Parameters
    ----------
    mu, sigma : float
        Mean and standard deviation of the belief, on a scale where new systems start
        at 25 and 25/3.

    Notes
    -----
    sigma describes the belief within the model, given this order of games; it is no
    standard error. Use `skill_shares` to ask whether a ranking would come again.
    """

    mu: float
    sigma: float


def true_skill(
    games: Comparisons, *, draw_probability: float = 0.1, tau: float = 0.0
) -> list[Skill]:
    """Update beliefs about systems game by game, with the `trueskill` library.

    Parameters
    ----------
    games : Comparisons
        In the order they are to be played: the result depends on it a little.
    draw_probability : float
        Probability of a draw between equals, 0 <= p < 1; it sets the draw margin. With
        0 no game may be a tie.
    tau : float
        How much a system may change between games; 0 as systems do not.

    Returns
    -------
    list of Skill
        One per system; a system without a game keeps the belief it started with.

    Raises
    ------
    ValueError
        On a wrong draw probability or tau, or ties where none may be.

    References
    ----------
    Herbrich, Minka and Graepel (2006), TrueSkill, section 3; Sakaguchi, Post and Van
    Durme (2014) for systems as players.

    Examples
    --------
    >>> from leaderboard.stats.comparisons import compare
    >>> best, rest = true_skill(compare([0], [1], [1], 2))
    >>> best.mu > 25 > rest.mu, round(best.mu, 3)
    (True, 29.396)
    """
    _check_settings(draw_probability, tau, bool((games.outcome == 0).any()))
    environment = trueskill.TrueSkill(
        mu=MU, sigma=SIGMA, beta=BETA, tau=tau, draw_probability=draw_probability
    )
    ratings = [environment.create_rating() for _ in range(games.n_systems)]
    for i, j, outcome in zip(
        games.first.tolist(), games.second.tolist(), games.outcome.tolist(), strict=True
    ):
        if outcome < 0:
            i, j = j, i
        ratings[i], ratings[j] = trueskill.rate_1vs1(
            ratings[i], ratings[j], drawn=outcome == 0, env=environment
        )
    return [Skill(float(r.mu), float(r.sigma)) for r in ratings]


def skill_shares(
    table: npt.ArrayLike,
    *,
    seed: int,
    n_resamples: int = 1_000,
    draw_probability: float = 0.1,
    tau: float = 0.0,
) -> Floats:
    """Give how often one system's skill comes out above another's.

    Parameters
    ----------
    table : array_like, shape (n, s)
        A row per judgement made side by side, a column per system; only the order
        within a row is used. No NaN: every system in every row.
    seed : int
        Seed of the resampling.
    n_resamples : int
        Number of resamples, at least 1. Each draws n rows and plays their games in the
        drawn order, so the shares also average over orders.
    draw_probability, tau : float
        As in `true_skill`.

    Returns
    -------
    ndarray, shape (s, s)
        Entry i, j: share of resamples in which mu of i exceeds mu of j, ties counting
        one half.

    Raises
    ------
    ValueError
        When the table is empty or incomplete, or a setting is wrong.

    Notes
    -----
    A game of two has a closed-form update, applied to all resamples at once; it is the
    library's to rounding.

    References
    ----------
    Herbrich, Minka and Graepel (2006), equations 4-5 and table 1; Novikova, Dušek and
    Rieser (2018), RankME, table 4.

    Examples
    --------
    >>> skill_shares([[2, 1], [2, 1], [1, 1]] * 10, seed=1)[0, 1].item()
    1.0
    """
    ratings = np.asarray(table, dtype=np.float64)
    if ratings.ndim != 2 or ratings.size == 0 or not np.isfinite(ratings).all():
        raise ValueError("Every row needs a finite rating of every system.")
    if n_resamples < 1:
        raise ValueError(f"At least one resample is needed, not {n_resamples}.")
    games = comparisons_from_table(ratings)
    _check_settings(draw_probability, tau, bool((games.outcome == 0).any()))
    n_rows, n_systems = ratings.shape
    pairs = np.column_stack(np.triu_indices(n_systems, k=1))
    if not len(pairs):
        return np.full((1, 1), 0.5)
    outcomes = games.outcome.reshape(n_rows, len(pairs))
    outcomes = outcomes[np.lexsort(outcomes.T[::-1])]  # the rows' order is nothing
    drawn = np.random.default_rng(seed).integers(0, n_rows, (n_rows, n_resamples))
    margin = special.ndtri((draw_probability + 1) / 2) * np.sqrt(2) * BETA
    mu = np.full((n_systems, n_resamples), MU)
    variance = np.full((n_systems, n_resamples), SIGMA**2)
    for row in outcomes[drawn].transpose(0, 2, 1):
        for (i, j), outcome in zip(pairs, row, strict=True):
            _play(mu, variance, i, j, outcome, margin, tau**2)
    above = np.mean(mu[:, None] > mu[None], axis=2)
    at_least = np.mean(mu[:, None] >= mu[None], axis=2)
    return np.asarray((above + at_least) / 2, dtype=np.float64)


def _play(
    mu: Floats,
    variance: Floats,
    i: int,
    j: int,
    outcome: npt.NDArray[np.int64],
    margin: float,
    drift: float,
) -> None:
    variance[[i, j]] += drift
    total = 2 * BETA**2 + variance[i] + variance[j]
    root = np.sqrt(total)
    sign = np.where(outcome < 0, -1.0, 1.0)
    t = sign * (mu[i] - mu[j]) / root
    edge = margin / root
    with np.errstate(divide="ignore", invalid="ignore"):
        x = t - edge
        # v and w of Herbrich et al., by way of log_ndtr: the plain ratio is 0/0 far out
        win = np.exp(-(x**2) / 2 - special.log_ndtr(x)) / np.sqrt(2 * np.pi)
        upper, lower = edge - t, -edge - t
        mass = special.ndtr(upper) - special.ndtr(lower)
        f_upper, f_lower = _density(upper), _density(lower)
        draw = (f_lower - f_upper) / mass
        draw_w = draw**2 + (upper * f_upper - lower * f_lower) / mass
    tied = outcome == 0
    v = np.where(tied, draw, win)
    w = np.where(tied, draw_w, win * (win + x))
    mu[i] += sign * variance[i] / root * v
    mu[j] -= sign * variance[j] / root * v
    variance[i] *= 1 - variance[i] / total * w
    variance[j] *= 1 - variance[j] / total * w


def _density(x: Floats) -> Floats:
    density: Floats = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    return density


def _check_settings(draw_probability: float, tau: float, any_tie: bool) -> None:
    if not 0 <= draw_probability < 1:
        raise ValueError(
            f"The draw probability must be in [0, 1), not {draw_probability}."
        )
    if not tau >= 0:
        raise ValueError(f"Tau must not be negative; {tau} was given.")
    if any_tie and draw_probability == 0:
        raise ValueError("There are ties; give a draw probability above 0.")
