"""Prediction-powered means that hold for other workers, all systems at once.

The metric's part is taken from each rating and given back as the metric's mean, and what
is left is estimated as every score is: with worker and instance effects, and an interval
by the jackknife over workers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Interval, as_ratings, check_confidence
from leaderboard.stats.prediction_powered import (
    PredictionPowered,
    prediction_powered_mean,
    price_of_weights,
    tuned_weights,
    weighted_correlation,
)
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.estimates import SystemEstimates, estimate_systems

Ints = npt.NDArray[np.int64]


def powered_systems(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    days: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> list[PredictionPowered | None]:
    """Estimate systems' mean ratings with the help of one or more metrics.

    Parameters
    ----------
    values, workers : array_like, shape (n,)
        Every rating, and who gave it.
    systems, instances : array_like of int, shape (n,)
        Row and column of `predicted` that each rating is about.
    predicted : array_like, shape (s, m, k)
        k metrics on the outputs of s systems for all m instances. The judged instances
        must be a random draw from them.
    days : array_like, shape (n,), optional
        On which day each rating was given.
    confidence : float
        Nominal coverage.

    Returns
    -------
    list of PredictionPowered or None
        In the order of the rows; None for a system without ratings, or one for which a
        metric lacks a value. `plain` is what
        `leaderboard.stats.systems.estimates.estimate_systems` says of the ratings. Of a
        system that one worker rated, both intervals cover instances only.
        `labels_saved` supposes that more labels come with more workers in proportion.

    Raises
    ------
    ValueError
        On no ratings, a rating that is not finite, places outside of `predicted`, or a
        wrong confidence.

    Notes
    -----
    With weights w tuned to a system's means of instances (PPI++) a rating r of an
    instance with metric f becomes r - w f + w mean(f elsewhere). The variance is that of
    their estimate, times the price of tuning, plus w² Var(f)/u for u instances without
    ratings; degrees of freedom are Satterthwaite's.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++, section 6; Bell and McCaffrey (2002),
    Survey Methodology 28 (deleting clusters, degrees of freedom).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> metric = rng.normal(size=(1, 900, 1))
    >>> instance, worker = np.arange(300), np.arange(300) % 30
    >>> people = 9 * metric[0, :300, 0] + rng.normal(0, 4, 30)[worker] + rng.normal(size=300)
    >>> (found,) = powered_systems(people, np.zeros(300, int), worker, instance, metric)
    >>> found.powered.half_width < 0.9 * found.plain.half_width
    True
    >>> found.powered.covers
    'which workers rated the outputs and which instances were drawn'
    """
    check_confidence(confidence)
    ratings = as_ratings(values)
    known = np.asarray(predicted, dtype=np.float64)
    system, instance = _places(systems, instances, known, len(ratings))
    adjusted = ratings.copy()
    tuned: dict[int, _Tuned] = {}
    for row in np.unique(system).tolist():
        if not np.isfinite(known[row]).all():
            continue
        own = system == row
        one = _Tuned(ratings[own], instance[own], known[row])
        tuned[row] = one
        # given back as its mean elsewhere, so that the level stays
        adjusted[own] -= (known[row, instance[own]] - one.elsewhere) @ one.weights
    plain, powered = (
        estimate_systems(each, system, workers, instances, days)
        for each in (ratings, adjusted)
    )
    return [
        _powered(row, tuned[row], plain, powered, confidence) if row in tuned else None
        for row in range(len(known))
    ]


class _Tuned:
    """What one system's judged instances tell about the metrics."""

    def __init__(self, ratings: Floats, instance: Ints, known: Floats) -> None:
        counts = np.bincount(instance, minlength=len(known))
        judged = counts > 0
        sums = np.bincount(instance, ratings, minlength=len(known))
        self.people: Floats = sums[judged] / counts[judged]
        self.here, self.other = known[judged], known[~judged]
        self.weights = tuned_weights(self.people, self.here, self.other)
        self.elsewhere: Floats = (
            self.other.mean(axis=0) if len(self.other) else np.zeros(known.shape[1])
        )


def _places(
    systems: npt.ArrayLike, instances: npt.ArrayLike, known: Floats, n: int
) -> tuple[Ints, Ints]:
    if known.ndim != 3:
        raise ValueError("The metrics need a value a system, an instance and a metric.")
    found = []
    for labels, size, name in (
        (systems, known.shape[0], "system"),
        (instances, known.shape[1], "instance"),
    ):
        codes = np.asarray(labels)
        if codes.shape != (n,) or not np.issubdtype(codes.dtype, np.integer):
            raise ValueError(f"Every rating needs the number of its {name}.")
        if codes.min() < 0 or codes.max() >= size:
            raise ValueError(f"A rating is about {name} of which metrics know nothing.")
        found.append(codes.astype(np.int64))
    return found[0], found[1]


def _powered(
    row: int,
    tuned: _Tuned,
    plain: SystemEstimates,
    powered: SystemEstimates,
    confidence: float,
) -> PredictionPowered:
    place = plain.systems.index(str(row))
    if np.isnan(plain.freedom[place, place]):
        # one worker's ratings say nothing about others: instances are all there is
        return prediction_powered_mean(
            tuned.people, tuned.here, tuned.other, confidence=confidence
        )
    before = plain.interval(str(row), confidence=confidence)
    after, saved = before, 0.0
    n, u = len(tuned.people), len(tuned.other)
    if tuned.weights.any():
        price = price_of_weights(n, len(tuned.weights))
        between = price * float(powered.variance[place, place])
        drawn = float(np.var(tuned.other @ tuned.weights, ddof=1)) / u
        freedom = float(powered.freedom[place, place])
        variance = between + drawn
        if variance > 0:
            spread = between**2 / freedom + drawn**2 / (u - 1)
            freedom = variance**2 / spread
            # variance falls as 1/n, so a ratio of variances is a ratio of labels
            saved = n * (float(plain.variance[place, place]) / variance - 1)
        after = _around(
            float(powered.means[place]), variance, freedom, before, confidence
        )
    correlation = weighted_correlation(tuned.people, tuned.here @ tuned.weights)
    return PredictionPowered(after, before, tuned.weights, correlation, n, u, saved)


def _around(
    mean: float, variance: float, freedom: float, like: Interval, confidence: float
) -> Interval:
    from scipy import stats

    reach = float(stats.t.ppf((1 + confidence) / 2, freedom)) * variance**0.5
    return Interval(
        mean,
        mean - reach,
        mean + reach,
        confidence,
        like.method,
        like.covers,
        like.n,
    )
