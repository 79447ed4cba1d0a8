"""The share of preferences for one of two systems, with an interval over workers."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from leaderboard.stats.clustered import factor_codes, multiway_variance
from leaderboard.stats.intervals import (
    CoveredInterval,
    Floats,
    as_ratings,
    bootstrap_mean,
)
from leaderboard.stats.systems.estimates import (
    COVERS_CROWD,
    COVERS_DAYS,
    COVERS_THESE,
    Population,
)
from leaderboard.stats.systems.table import rating_table, variances_of

# Numbers of the levels of a factor, and their count.
Level = tuple[npt.NDArray[np.intp], int]


def preferred_share(
    answers: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    days: npt.ArrayLike | None = None,
    *,
    crossed: bool = False,
    population: Population = Population.LIKE,
) -> CoveredInterval:
    """Estimate the share of answers that prefer a system, with an interval.

    Parameters
    ----------
    answers : array_like, shape (n,)
        1 for the system, 0 for the other one, one half for a tie.
    workers, instances : array_like, shape (n,)
        The worker and the instance of each answer.
    days : array_like, shape (n,), optional
        The day of each; used with at least three days.
    crossed : bool
        Whether the noise of workers and of instances is subtracted once: the method of
        releases without ``raters``, too narrow below 15 workers.
    population : Population
        With `THESE`, the interval is over instances alone.

    Returns
    -------
    CoveredInterval
        Symmetric on the scale of log-odds, so that it stays within 0 and 1. With days,
        the widest of three: without them, with a model's variance of days, and leaving
        out one day at a time. A single worker, or equal answers, do not determine the
        variance between workers: the interval is then that over instances alone.

    References
    ----------
    Cameron, Gelbach and Miller (2011), JBES 29(2), equation 2.9 (workers and instances
    crossed); Agresti (2002), Categorical Data Analysis, section 3.1.5 (log-odds).
    """
    from scipy import special

    values = as_ratings(answers, what="answers")
    codes = factor_codes({"worker": workers, "instance": instances}, len(values))
    if population == Population.THESE:
        found = _of_this_crowd(values, codes["instance"])
        return replace(found, covers=COVERS_THESE)
    share = float(np.sort(values).mean())
    if crossed and codes["worker"][1] > 1:
        levels = [pair for pair in codes.values() if pair[1] > 1]
        variance, freedom = multiway_variance(values - share, levels)
    else:
        variance, freedom = _over_workers(values - share, codes)
    if variance <= 1e-24 or np.ptp(values) == 0:
        return _of_this_crowd(values, codes["instance"])
    reach = float(special.stdtrit(freedom, 0.975)) * variance**0.5
    covers = COVERS_CROWD
    for total, its_freedom in _with_days(values, codes, days, (variance, freedom)):
        covers = COVERS_DAYS
        reach = max(reach, float(special.stdtrit(its_freedom, 0.975)) * total**0.5)
    slope, centre = 1 / (share * (1 - share)), special.logit(share)
    low, high = (float(special.expit(centre + s * reach * slope)) for s in (-1, 1))
    return CoveredInterval(share, low, high, covers)


def _over_workers(residuals: Floats, codes: Mapping[str, Level]) -> tuple[float, float]:
    """Return the share's variance and its degrees of freedom.

    That of workers, leaving out one at a time, is not reduced by the noise within them:
    with few workers such differences, and their freedom, are too uncertain. Instances
    with several answers add what these have in common.
    """
    (worker, n_workers), (instance, n) = codes["worker"], codes["instance"]
    if n_workers < 2:
        return 0.0, 1.0
    between, freedom = multiway_variance(residuals, [(worker, n_workers)])
    if n < 2 or between == 0:
        return between, freedom
    shared, its_freedom = multiway_variance(residuals, [(instance, n)])
    within, _ = multiway_variance(residuals, [(worker * n + instance, n_workers * n)])
    shared = max(shared - within, 0.0)
    total = between + shared
    return total, total**2 / (between**2 / freedom + shared**2 / its_freedom)


def _with_days(
    values: Floats,
    codes: Mapping[str, Level],
    days: npt.ArrayLike | None,
    within: tuple[float, float],
) -> list[tuple[float, float]]:
    """Return the share's variance with days and its degrees of freedom, in two ways.

    A handful of days is too little for either alone: a model's variance of days is
    often too small, and leaving out one day at a time often underestimates a large one.
    """
    labels = (codes["worker"][0], codes["instance"][0])
    # one group of answers
    table = rating_table(values, np.zeros(len(values)), *labels, days, compared=True)
    if not table.n_days:
        return []
    shares = np.bincount(table.day) / len(values)
    between = float(variances_of(table).day * (shares**2).sum())
    variance, freedom = within
    total = variance + between
    spread = variance**2 / freedom + between**2 / table.day_freedom
    factors = [
        (table.worker, table.n_workers),
        (table.instance, table.n_instances),
        (table.day, table.n_days),
    ]
    crossed = [factor for factor in factors if factor[1] > 1]
    left_out = multiway_variance(table.values - table.values.mean(), crossed)
    return [(total, total**2 / spread), left_out]


def _of_this_crowd(values: Floats, instances: Level) -> CoveredInterval:
    """Return the interval over instances, each of which counts once."""
    codes, n_instances = instances
    each = np.bincount(codes, values, n_instances) / np.bincount(codes)
    return bootstrap_mean(each, seed=0, n_resamples=None, bounds=(0.0, 1.0))
