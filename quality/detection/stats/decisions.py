"""From posteriors to bans: what the two errors cost, and how many bans are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import Floats
from quality.detection.stats.fitted_detector import Bools, flag

#: Among those excluded together, at most this share is expected to be careful.
FALSE_DISCOVERIES = 0.005


@dataclass(frozen=True)
class PoolExpectation:
    """What a set of bans is expected to do, given the posteriors.

    Attributes
    ----------
    threshold : float or None
        Posterior above which workers are banned; None for an arbitrary set.
    n_banned : int
        Workers banned.
    expected_wrong_bans : float
        Expected number of good workers among the banned.
    expected_missed : float
        Expected number of noisy workers among the others.
    false_discovery_rate : float
        Expected share of good workers among the banned; 0 when nobody is.
    cost : float
        Expected cost of both errors, in the unit of the costs given.
    """

    threshold: float | None
    n_banned: int
    expected_wrong_bans: float
    expected_missed: float
    false_discovery_rate: float
    cost: float


def cost_threshold(cost_wrong_ban: float, cost_missed: float) -> float:
    """Threshold of the posterior at which a ban and its omission cost the same.

    Parameters
    ----------
    cost_wrong_ban : float
        Cost of banning a good worker, > 0.
    cost_missed : float
        Cost of keeping a noisy worker, > 0, in the same unit.

    Returns
    -------
    float
        Ban when P(noisy) is greater: no other rule has a lower expected cost.

    Raises
    ------
    ValueError
        When a cost is not a positive number.

    References
    ----------
    J. Berger, "Statistical Decision Theory and Bayesian Analysis" (1985), section
    4.4.3 (two-action problems).

    Examples
    --------
    A threshold of .99 says that a wrong ban is 99 times worse than a miss:

    >>> cost_threshold(99, 1)
    0.99
    """
    _check_costs(cost_wrong_ban, cost_missed)
    return cost_wrong_ban / (cost_wrong_ban + cost_missed)


def _check_costs(*costs: float) -> None:
    if not all(np.isfinite(cost) and cost > 0 for cost in costs):
        raise ValueError("Costs must be positive numbers.")


def expectation(
    p_noisy: npt.ArrayLike,
    banned: npt.ArrayLike,
    *,
    cost_wrong_ban: float = 1.0,
    cost_missed: float = 1.0,
    threshold: float | None = None,
) -> PoolExpectation:
    """Work out the expected errors and cost of banning these workers.

    Parameters
    ----------
    p_noisy : array_like of float, shape (n_workers,)
        Posterior probabilities.
    banned : array_like of bool, shape (n_workers,)
        Who is banned.
    cost_wrong_ban, cost_missed : float, default 1
        Costs of the two errors, > 0.
    threshold : float, optional
        Kept in the result, for tables.

    Returns
    -------
    PoolExpectation
        Expected numbers of both errors and their cost.

    Raises
    ------
    ValueError
        When posteriors are no probabilities, lengths differ or a cost is not positive.

    References
    ----------
    C. Genovese and L. Wasserman, "Bayesian and frequentist multiple testing", in
    Bayesian Statistics 7 (2003), section 2 (posterior false discovery rate).

    Examples
    --------
    >>> bans = expectation([0.99, 0.98, 0.1], [True, True, False])
    >>> bans.n_banned, round(bans.expected_wrong_bans, 9), round(bans.expected_missed, 9)
    (2, 0.03, 0.1)
    """
    _check_costs(cost_wrong_ban, cost_missed)
    p = _probabilities(p_noisy)
    ban = np.atleast_1d(np.asarray(banned, dtype=bool))
    if ban.shape != p.shape:
        raise ValueError(f"There are {p.size} posteriors but {ban.size} decisions.")
    wrong, missed = float((1 - p[ban]).sum()), float(p[~ban].sum())
    n_banned = int(ban.sum())
    return PoolExpectation(
        threshold=threshold,
        n_banned=n_banned,
        expected_wrong_bans=wrong,
        expected_missed=missed,
        false_discovery_rate=wrong / n_banned if n_banned else 0.0,
        cost=cost_wrong_ban * wrong + cost_missed * missed,
    )


def _probabilities(p_noisy: npt.ArrayLike) -> Floats:
    p = np.atleast_1d(np.asarray(p_noisy, dtype=np.float64))
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("Posteriors must be one row of probabilities.")
    return p


def control_false_discoveries(
    p_noisy: npt.ArrayLike, level: float = 0.01, *, least: float = 0.5
) -> Bools:
    """Ban as many workers as keep the expected share of wrong bans within `level`.

    Parameters
    ----------
    p_noisy : array_like of float, shape (n_workers,)
        Posterior probabilities.
    level : float, default 0.01
        Largest expected share of good workers among the banned, 0 <= level < 1.
    least : float, default 0.5
        Nobody is banned at or below this posterior, however sure the others are: a
        share over the pool says nothing of one person. 0 <= least < 1.

    Returns
    -------
    ndarray of bool, shape (n_workers,)
        Who is banned; workers with equal posteriors share their fate.

    Raises
    ------
    ValueError
        When posteriors are no probabilities, or `level` or `least` is out of range.

    References
    ----------
    P. Müller, G. Parmigiani, C. Robert and J. Rousseau, "Optimal sample size for
    multiple testing", JASA 99 (2004), section 2: among all rules with this posterior
    false discovery rate, thresholding the posterior misses the fewest.

    Examples
    --------
    >>> control_false_discoveries([1.0, 0.99, 0.97, 0.4], 0.015).tolist()
    [True, True, True, False]
    >>> control_false_discoveries([0.97], 0.015).tolist()
    [False]
    """
    if not 0 <= level < 1 or not 0 <= least < 1:
        raise ValueError("The level and the least posterior must be in [0, 1).")
    p = _probabilities(p_noisy)
    falling = np.sort(p[p > least])[::-1]
    share = np.cumsum(1 - falling) / np.arange(1, falling.size + 1)
    last_of_equals = np.append(falling[1:] != falling[:-1], True)[: falling.size]
    # A share that equals the level is allowed, whatever rounding makes of it.
    allowed = falling[last_of_equals & (share <= level + 1e-12)]
    return p >= allowed[-1] if allowed.size else np.zeros(p.size, dtype=bool)


def threshold_table(
    p_noisy: npt.ArrayLike,
    thresholds: Sequence[float] = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999),
    *,
    cost_wrong_ban: float = 1.0,
    cost_missed: float = 1.0,
) -> list[PoolExpectation]:
    """Show what each threshold would do to this pool.

    Parameters
    ----------
    p_noisy : array_like of float, shape (n_workers,)
        Posterior probabilities.
    thresholds : sequence of float
        Candidates, 0 < threshold <= 1.
    cost_wrong_ban, cost_missed : float, default 1
        Costs of the two errors, > 0.

    Returns
    -------
    list of PoolExpectation
        One row per threshold.

    Raises
    ------
    ValueError
        When a threshold, a posterior or a cost is out of range.

    Examples
    --------
    >>> rows = threshold_table([0.999, 0.96, 0.2], [0.9, 0.99])
    >>> [(row.n_banned, round(row.false_discovery_rate, 4)) for row in rows]
    [(2, 0.0205), (1, 0.001)]
    """
    p = _probabilities(p_noisy)
    return [
        expectation(
            p,
            flag(p, threshold),
            cost_wrong_ban=cost_wrong_ban,
            cost_missed=cost_missed,
            threshold=threshold,
        )
        for threshold in thresholds
    ]


def excluded_by(p_careless: npt.ArrayLike, threshold: float) -> Bools:
    """Tell who goes: as many as keep the expected share of careful ones small.

    Examples
    --------
    >>> excluded_by([0.999, 0.995, 0.9901, 0.5], 0.99).tolist()
    [True, True, False, False]
    """
    least = np.asarray(p_careless) > threshold
    kept = control_false_discoveries(p_careless, FALSE_DISCOVERIES, least=threshold)
    return np.asarray(least & np.asarray(kept))
