"""Lower weights for ratings whose worker may be careless.

A mixed model's means change by known steps without a worker; with a weight, they change
by a part of it. So no model is fitted again, and full weights change nothing.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.jackknife import Influence
from leaderboard.stats.systems.table import RatingTable, sums_by

# A system with less weight than this keeps all of its ratings.
_LEAST_LEFT = 0.05


@dataclass(frozen=True)
class Weighed:
    """Means with weighted workers.

    Parameters
    ----------
    means : ndarray, shape (systems,)
    cleaning : ndarray, shape (systems, systems)
        Covariance of the means because of uncertain weights.
    """

    means: Floats
    influence: Influence
    cleaning: Floats


def worker_weights(table: RatingTable, weights: npt.ArrayLike) -> Floats:
    """Return each worker's weight, from one for each rating in the given order.

    Examples
    --------
    >>> from leaderboard.stats.systems.table import rating_table
    >>> table = rating_table([1, 4, 4], list("aaa"), list("xyy"))
    >>> worker_weights(table, [0.5, 1, 1]).tolist()
    [0.5, 1.0]
    """
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (len(table),) or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("Every rating needs one weight between 0 and 1.")
    own = given[table.row]
    counts = np.bincount(table.worker, minlength=table.n_workers)
    return sums_by(table.worker, own, table.n_workers) / counts


def parts_of(workers: npt.ArrayLike, weights: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Divide workers' ratings into numbered parts with one weight each.

    A worker who began with care and then stopped is two workers to a model: one who
    counts, with a separate leniency, and one who does not.

    Returns
    -------
    ndarray of int, shape (n,)
        One part for a worker with equal weights.

    Examples
    --------
    >>> parts_of(["a", "b", "b", "b"], [0.5, 1.0, 1.0, 0.1]).tolist()
    [0, 2, 2, 1]
    """
    own = np.unique(np.asarray(workers), return_inverse=True)[1].ravel()
    level = np.unique(np.asarray(weights, dtype=np.float64), return_inverse=True)[1]
    pair = own * (int(level.max(initial=0)) + 1) + level.ravel()
    return np.asarray(np.unique(pair, return_inverse=True)[1].ravel(), dtype=np.int64)


def of_workers(
    table: RatingTable, workers: npt.ArrayLike, influence: Influence
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return shares and counts of workers, with their parts combined.

    Examples
    --------
    >>> from leaderboard.stats.systems.jackknife import influence_of
    >>> from leaderboard.stats.systems.table import rating_table
    >>> from leaderboard.stats.systems.variances import Variances
    >>> from leaderboard.stats.systems.weighting import weighting
    >>> table = rating_table([1, 4, 4], list("aaa"), [0, 1, 2])
    >>> equations = weighting(table, Variances(0.0, 0.0, 1.0, "given"))
    >>> full = influence_of(equations, np.eye(1) / 3, np.array([3.0]))
    >>> of_workers(table, ["x", "y", "y"], full)[1].tolist()
    [[1], [2]]
    """
    first = np.searchsorted(table.worker, np.arange(table.n_workers))
    owner = np.asarray(workers)[table.row[first]]
    names, number = np.unique(owner, return_inverse=True)
    if len(names) == table.n_workers:
        return influence.shares, influence.counts
    shares = np.zeros((len(names), table.n_systems))
    counts = np.zeros(shares.shape, dtype=np.int64)
    np.add.at(shares, number.ravel(), influence.shares)
    np.add.at(counts, number.ravel(), influence.counts)
    return shares, counts


def weigh(influence: Influence, means: Floats, weights: Floats) -> Weighed:
    """Apply weights of workers to the means.

    Parameters
    ----------
    influence : Influence
        Of the unweighted means.
    means : ndarray, shape (systems,)
    weights : ndarray, shape (workers,)
        Between 0 and 1: the probability that a worker is careful.

    Returns
    -------
    Weighed
        Exact if a mean is the plain one of its ratings, else to first order in other
        workers' effects. A system with hardly any weight left keeps its
        mean.

    References
    ----------
    Huber and Ronchetti (2009), Robust Statistics, section 1.5 (jackknife influences);
    the variance is that of a sum of independent inclusions.

    Examples
    --------
    >>> from leaderboard.stats.systems.jackknife import influence_of
    >>> from leaderboard.stats.systems.table import rating_table
    >>> from leaderboard.stats.systems.variances import Variances
    >>> from leaderboard.stats.systems.weighting import weighting
    >>> table = rating_table([1, 4, 4], list("aaa"), list("xyz"))
    >>> equations = weighting(table, Variances(0.0, 0.0, 1.0, "given"))
    >>> full = influence_of(equations, np.eye(1) / 3, np.array([3.0]))
    >>> weigh(full, np.array([3.0]), np.array([0.0, 1.0, 1.0])).means.tolist()
    [4.0]
    """
    shares, weight = influence.shares, weights[:, None]
    left = (weight * shares).sum(axis=0)
    whole = left < _LEAST_LEFT
    # a system with hardly any weight left keeps all ratings
    kept = np.where(whole, 1.0, weight)
    left = np.where(whole, 1.0, left)
    pull = influence.shifts * (1 - shares)
    moved: Floats = ((1 - kept) * pull).sum(axis=0) / left
    pull = pull + shares * moved
    slopes = pull / left
    own = kept * shares
    rest = np.where(left - own > 0, left - own, np.inf)
    unsure = np.sqrt(kept * (1 - kept)) * slopes
    return Weighed(
        means + moved,
        replace(influence, shifts=kept * pull / rest, shares=own / left),
        unsure.T @ unsure,
    )
