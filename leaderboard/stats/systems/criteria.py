"""Systems under weights over several criteria."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.stats.intervals import Floats
from leaderboard.stats.ranking import RankRange
from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.stats.systems.ranks import Ranking
from leaderboard.stats.systems.table import Variances


@dataclass(frozen=True)
class Weighted:
    """One system under the weights.

    Parameters
    ----------
    interval : Interval
        Of the weighted mean; infinite if only one worker rated the system.
    p_first : float or None
        Probability of leading, shared by leaders that tie; None if a difference is unknown.
    """

    system: str
    interval: Interval
    ranks: RankRange
    p_first: float | None


def together(
    fits: Sequence[SystemEstimates], weights: Sequence[float]
) -> SystemEstimates:
    """Combine criteria that were rated by different workers each.

    Parameters
    ----------
    fits : sequence of SystemEstimates
        One a criterion, of the same systems.
    weights : sequence of float
        At least 0, not all 0; only their ratios matter.

    Returns
    -------
    SystemEstimates
        Of the weighted means; errors of different criteria count as independent.

    Examples
    --------
    >>> from leaderboard.stats.systems.estimates import estimate_systems
    >>> fit = estimate_systems([1, 2, 3, 4], list("aabb"), list("xyxy"))
    >>> together([fit, fit], [1, 3]).means.round(6).tolist()
    [1.5, 3.5]
    """
    shares = _shares(weights)
    first = fits[0]
    if any(fit.systems != first.systems for fit in fits):
        raise ValueError("Every criterion needs ratings of the same systems.")
    parts = {
        name: sum(
            w**2 * getattr(fit, name) for w, fit in zip(shares, fits, strict=True)
        )
        for name in ("worker_part", "instance_part", "floor", "day_part")
    }
    apart = [w**2 * fit.variance for w, fit in zip(shares, fits, strict=True)]
    total = sum(apart)
    each = sum(v**2 / fit.freedom for v, fit in zip(apart, fits, strict=True))
    freedom = np.where(np.asarray(each) > 0, np.asarray(total) ** 2 / each, np.nan)
    return SystemEstimates(
        systems=first.systems,
        means=np.asarray(sum(w * f.means for w, f in zip(shares, fits, strict=True))),
        n=np.min([fit.n for fit in fits], axis=0),
        n_workers=np.min([fit.n_workers for fit in fits], axis=0),
        effective_workers=np.min([fit.effective_workers for fit in fits], axis=0),
        largest_share=np.max([fit.largest_share for fit in fits], axis=0),
        variances=Variances(0.0, 0.0, 0.0, "none"),
        worker_freedom=freedom,
        population=first.population,
        n_instances=min(fit.n_instances for fit in fits),
        # the freedom above includes days; here they only define the coverage
        day_freedom=min(fit.day_freedom for fit in fits),
        **{name: np.asarray(part) for name, part in parts.items()},
    )


def _shares(weights: Sequence[float]) -> Floats:
    chosen = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(chosen).all() or (chosen < 0).any() or not chosen.sum() > 0:
        raise ValueError("Give one weight per criterion, none negative and not all 0.")
    return np.asarray(chosen / chosen.sum(), dtype=np.float64)


def weighted_mean(values: npt.ArrayLike, weights: Sequence[float]) -> Floats:
    """Average the criteria of each rating.

    Parameters
    ----------
    values : array_like, shape (n, c)
        Ratings; NaN if a worker did not rate a criterion.

    Returns
    -------
    ndarray, shape (n,)
        NaN if a criterion with a weight is missing.

    Examples
    --------
    >>> weighted_mean([[1.0, 3.0], [np.nan, 5.0]], [1, 1]).tolist()
    [2.0, nan]
    """
    shares = _shares(weights)
    counts = shares > 0
    return np.asarray(np.asarray(values, np.float64)[:, counts] @ shares[counts])


def weigh(
    estimates: SystemEstimates, ranking: Ranking, *, seed: int, n_draws: int = 10_000
) -> list[Weighted]:
    """Return weighted means with their ranks.

    Returns
    -------
    list of Weighted
        In the order of the ranking.

    Examples
    --------
    >>> from leaderboard.stats.systems.estimates import estimate_systems
    >>> from leaderboard.stats.systems.ranks import rank_systems
    >>> fit = estimate_systems([1, 2, 3, 4], list("aabb"), list("xyxy"))
    >>> [row.system for row in weigh(fit, rank_systems(fit), seed=1)]
    ['b', 'a']
    """
    places = [estimates.systems.index(name) for name in ranking.systems]
    leads = _leads(estimates, places, seed, n_draws)
    return [
        Weighted(name, estimates.interval(name), ranks, lead)
        for name, ranks, lead in zip(ranking.systems, ranking.ranks, leads, strict=True)
    ]


def _leads(
    estimates: SystemEstimates, places: list[int], seed: int, n_draws: int
) -> list[float] | list[None]:
    unknown = np.isnan(estimates.worker_freedom[np.ix_(places, places)])
    if unknown.any():
        return [None] * len(places)
    covariance = estimates.covariance[np.ix_(places, places)]
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    spread = vectors * np.sqrt(np.maximum(values, 0.0))
    noise = np.random.default_rng(seed).standard_normal((n_draws, len(places)))
    draws = estimates.means[places] + noise @ spread.T
    # a rounding error is no difference between two systems
    rounded = np.round(draws, 9)
    first = rounded == rounded.max(axis=1, keepdims=True)
    shares = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return [float(share) for share in shares]
