"""Strict and lenient workers: comparisons of systems with different workers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.clustered import factor_codes
from leaderboard.stats.intervals import Floats, as_ratings


def worker_z_scores(values: npt.ArrayLike, workers: npt.ArrayLike) -> Floats:
    """Standardize each worker's ratings by that worker's mean and spread.

    Parameters
    ----------
    values : array_like, shape (n,)
        Ratings, finite.
    workers : array_like, shape (n,)
        The worker of each.

    Returns
    -------
    ndarray, shape (n,)
        (rating - worker's mean) / worker's standard deviation (n - 1); NaN for workers
        with one rating or with equal ratings.

    Notes
    -----
    Right if every worker saw a random share of the systems; a worker who saw mostly
    good outputs has that goodness taken away.
    `leaderboard.stats.systems.estimates.estimate_systems` does not do so.

    References
    ----------
    Graham, Baldwin, Moffat and Zobel (2013), Continuous Measurement Scales in Human
    Evaluation of Machine Translation, section 4; Bojar et al. (2016), section 3.
    """
    ratings = as_ratings(values)
    codes, n_workers = factor_codes({"worker": workers}, len(ratings))["worker"]
    counts = np.bincount(codes, minlength=n_workers)
    centered = ratings - (np.bincount(codes, ratings) / counts)[codes]
    spread = np.sqrt(np.bincount(codes, centered**2) / np.maximum(counts - 1, 1))
    # a worker who always gives one rating does not order outputs
    spread[spread <= 1e-12 * max(float(np.abs(ratings).max()), 1e-300)] = np.nan
    z: Floats = centered / spread[codes]
    return z


@dataclass(frozen=True)
class StandardisedMeans:
    """Systems' average z-scores.

    Parameters
    ----------
    means : ndarray, shape (s,)
        Average z-score of each; NaN for a system left without ratings.
    n_ratings : ndarray of int, shape (s,)
        Ratings of each.
    n_left_out : int
        Ratings of workers whose z-scores are undefined.
    """

    systems: list[str]
    means: Floats
    n_ratings: npt.NDArray[np.int64]
    n_left_out: int


def standardised_means(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike | None = None,
) -> StandardisedMeans:
    """Average z-scores per system, as the WMT campaigns do.

    Parameters
    ----------
    values, systems, workers : array_like, shape (n,)
        Ratings, and the system and worker of each.
    instances : array_like, shape (n,), optional
        With it, repeated ratings of one output are averaged first, so that an
        instance counts once for any number of ratings.

    References
    ----------
    Bojar et al. (2016), Findings of WMT16, section 3.4; Akhbardeh et al. (2021),
    Findings of WMT21, section 3.2.
    """
    return mean_z_scores(worker_z_scores(values, workers), systems, instances)


def mean_z_scores(
    z_scores: npt.ArrayLike,
    systems: npt.ArrayLike,
    instances: npt.ArrayLike | None = None,
) -> StandardisedMeans:
    """Average z-scores that were computed from all of the workers' ratings.

    WMT standardizes on references and damaged texts, too, and averages systems' own.

    Parameters
    ----------
    z_scores : array_like, shape (n,)
        See `worker_z_scores`; NaN is left out and counted.
    systems, instances : array_like, shape (n,)
        As in `standardised_means`.

    References
    ----------
    Kocmi et al. (2022), Findings of WMT22, section 6.

    Examples
    --------
    >>> found = mean_z_scores([1.0, 0.0, 0.5], list("aab"), [1, 1, 1])
    >>> found.systems, found.means.tolist()
    (['a', 'b'], [0.5, 0.5])
    """
    z = np.asarray(z_scores, dtype=np.float64)
    codes, n_systems = factor_codes({"system": systems}, len(z))["system"]
    _, first = np.unique(codes, return_index=True)
    names = np.asarray(systems)[first].astype(str).tolist()
    usable = ~np.isnan(z)
    n_ratings = np.bincount(codes[usable], minlength=n_systems)
    weights = np.ones(int(usable.sum()))
    if instances is not None:
        cells = factor_codes({"instance": instances}, len(z))["instance"][0]
        _, cell, sizes = np.unique(
            cells[usable] * n_systems + codes[usable],
            return_inverse=True,
            return_counts=True,
        )
        # all ratings of one output have a total weight of one
        weights = 1 / sizes[cell]
    total = np.bincount(codes[usable], weights * z[usable], n_systems)
    weight = np.bincount(codes[usable], weights, n_systems)
    means = np.full(n_systems, np.nan)
    np.divide(total, weight, out=means, where=weight > 0)
    return StandardisedMeans(
        names, means, n_ratings.astype(np.int64), int((~usable).sum())
    )
