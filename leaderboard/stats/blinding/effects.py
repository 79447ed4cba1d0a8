"""What order, length and side do to ratings, with intervals that cover other workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.blinding.levels import codes_of, without_levels
from leaderboard.stats.intervals import as_ratings
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.table import Codes

_SMALL = 1e-9


@dataclass(frozen=True)
class Effect:
    """How much a rating changes with something that it should not depend on.

    Parameters
    ----------
    estimate, low, high : float
        In the unit of the ratings, for one unit of the cause; the 95 % interval.
    p_value : float
        Two-sided, of "no effect".
    n_ratings, n_workers : int
        What it rests on: workers who show how the cause works.
    """

    estimate: float
    low: float
    high: float
    p_value: float
    n_ratings: int
    n_workers: int


def effect(
    values: npt.ArrayLike,
    cause: npt.ArrayLike,
    workers: npt.ArrayLike,
    held: Sequence[npt.ArrayLike] = (),
) -> Effect | None:
    """Estimate what a cause does to ratings, beyond workers and what else is held equal.

    Parameters
    ----------
    values, cause : array_like, shape (n,)
        Ratings, and the number that they should not depend on.
    workers : array_like, shape (n,)
        Who gave each; each worker keeps a level of their own.
    held : sequence of array_like, shape (n,)
        What else keeps a level of its own: systems, instances.

    Returns
    -------
    Effect or None
        None where the cause does not vary beyond what is held equal, or where fewer than
        two workers show how it works.

    Raises
    ------
    ValueError
        On a rating or cause that is not finite, or columns that do not fit.

    Notes
    -----
    Least squares with a level for every worker and every value of what is held; workers
    are the units of the interval: a sandwich with scores summed by worker, each divided
    by what its leverage leaves (as deleting the worker would), and t with the degrees of
    freedom of workers' parts in the variation of the cause (Satterthwaite).

    References
    ----------
    Frisch and Waugh (1933), Econometrica 1; Bell and McCaffrey (2002), Survey Methodology
    28; Guimaraes and Portugal (2010), Stata Journal 10 (levels of several kinds).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> worker, late = np.arange(400) % 20, (np.arange(400) // 20) / 19
    >>> ratings = 60 + rng.normal(0, 9, 20)[worker] - 8 * late + rng.normal(0, 5, 400)
    >>> found = effect(ratings, late, worker)
    >>> found.low < -8 < found.high < 0
    True
    """
    y, x = _same_length(values, cause)
    worker = codes_of(workers, len(y))
    return _slope(y, x, worker, [worker, *(codes_of(one, len(y)) for one in held)])


def side_effect(
    first_chosen: npt.ArrayLike,
    first_is_a: npt.ArrayLike,
    workers: npt.ArrayLike,
    pairs: npt.ArrayLike | None = None,
) -> Effect | None:
    """Estimate how much more often an output is preferred because it stands first.

    Parameters
    ----------
    first_chosen : array_like, shape (n,)
        1 where the output shown first was preferred, 0 where the second, 1/2 for a tie.
    first_is_a : array_like of bool, shape (n,)
        Whether system A stood first.
    workers : array_like, shape (n,)
    pairs : array_like, shape (n,), optional
        Which two systems were compared; each two keep a difference of their own.

    Returns
    -------
    Effect or None
        The share of preferences for an output that stands first, less that of the same
        system's outputs standing second: from -1 to 1. None where A always stood on one
        side, or where fewer than two workers answered.

    References
    ----------
    As `effect`, without levels of workers: their taste for A cancels.

    Examples
    --------
    >>> chosen, is_a = np.array([1, 1, 0, 1] * 10), np.array([True, False] * 20)
    >>> round(side_effect(chosen, is_a, np.arange(40) // 10).estimate, 3)
    0.5
    """
    chosen, first = _same_length(first_chosen, np.asarray(first_is_a, dtype=np.float64))
    of_a = np.where(first > 0, chosen, 1 - chosen)
    n = len(chosen)
    held = [] if pairs is None else [codes_of(pairs, n)]
    return _slope(of_a, first, codes_of(workers, n), held)


def balanced_share(of_a: npt.ArrayLike, a_stood_first: npt.ArrayLike) -> float | None:
    """Estimate how often A is preferred if it stands on each side equally often.

    Parameters
    ----------
    of_a : array_like, shape (n,)
        1 where A was preferred, 0 where B, between for a bit of both.
    a_stood_first : array_like of bool, shape (n,)

    Returns
    -------
    float or None
        The mean of the two sides' shares; None where A stood on one side only.

    Notes
    -----
    Where sides are drawn with equal chances, the plain share estimates the same number;
    this one is free of how the draw fell out (post-stratification).

    References
    ----------
    Miratrix, Sekhon and Yu (2013), JRSS B 75.

    Examples
    --------
    >>> balanced_share([1, 1, 1, 0], [True, True, True, False])
    0.5
    """
    labels, first = _same_length(of_a, np.asarray(a_stood_first, dtype=np.float64))
    on_first = first > 0
    if on_first.all() or not on_first.any():
        return None
    return float(labels[on_first].mean() + labels[~on_first].mean()) / 2


def _same_length(values: npt.ArrayLike, cause: npt.ArrayLike) -> tuple[Floats, Floats]:
    y, x = as_ratings(values), as_ratings(cause)
    if len(x) != len(y):
        raise ValueError(f"{len(y)} ratings have {len(x)} causes.")
    return y, x


def _slope(
    y: Floats, x: Floats, worker: Codes, levels: Sequence[Codes]
) -> Effect | None:
    from scipy import special

    spread = float(((x - x.mean()) ** 2).sum())
    x, y = without_levels(x, levels), without_levels(y, levels)
    variation = float(x @ x)
    if variation <= _SMALL * max(spread, _SMALL):
        return None
    slope = float(x @ y) / variation
    parts = np.bincount(worker, x * x) / variation
    n = int((parts > _SMALL).sum())
    if n < 2:
        return None
    left = 1 - np.minimum(parts, 1 - _SMALL)
    # levels that are no worker's own take up residuals that workers' sums would have had
    taken = sum(int(one.max()) for one in levels if one is not worker)
    if taken + 2 > len(y) - n:
        return None
    scores = np.bincount(worker, x * (y - slope * x)) / left
    error = float((scores @ scores) * (n - 1) / n * len(y) / (len(y) - taken)) ** 0.5
    error /= variation
    freedom = max(1 / float(parts @ parts) - 1, 1.0)
    reach = float(special.stdtrit(freedom, 0.975)) * error
    ratio = abs(slope) / error if error else np.inf * (abs(slope) > _SMALL)
    p_value = 2 * float(special.stdtr(freedom, -ratio)) if ratio else 1.0
    return Effect(slope, slope - reach, slope + reach, p_value, len(y), n)
