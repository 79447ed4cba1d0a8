"""Systems' means over all instances, where some were likelier than others to be rated.

Each instance counts by one over its chance (Hájek). Errors are those of the weighted
means, clustered by worker and by instance, for all systems at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Interval, check_confidence
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.stats.systems.table import RatingTable, rating_table, sums_by
from leaderboard.stats.systems.variances import variances_of

_METHOD = "Student's t, weighted by chances"
_ALONE = "which instances were drawn; not which workers rated them"


def weighted_systems(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    chances: npt.ArrayLike,
) -> SystemEstimates:
    """Estimate systems' means over all instances from those that were drawn.

    Parameters
    ----------
    values, systems, workers, instances : array_like, shape (n,)
        As in `estimate_systems`.
    chances : array_like, shape (n,)
        How likely the instance of each rating was to be drawn, in (0, 1].

    Returns
    -------
    SystemEstimates
        `variances` describe the ratings that there are, unweighted; days do not count.

    Raises
    ------
    ValueError
        On no ratings, a rating that is not finite, labels that do not fit, or a chance
        that is none.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, section 5.7
    (the weighted mean and its linearised variance); Cameron, Gelbach and Miller (2011),
    Journal of Business and Economic Statistics 29 (two ways of clustering).

    Examples
    --------
    >>> found = weighted_systems([1, 3], list("aa"), list("xy"), [0, 1], [0.5, 0.25])
    >>> float(found.means[0].round(3))
    2.333
    """
    table = rating_table(values, systems, workers, instances)
    chance = np.asarray(chances, dtype=np.float64)
    if chance.shape != (len(table),) or not ((chance > 0) & (chance <= 1)).all():
        raise ValueError("Every rating has a chance above 0, and 1 at most.")
    share = _shares(table, 1 / chance[table.row])
    means = sums_by(table.system, share * table.values, table.n_systems)
    moves = share * (table.values - means[table.system])
    by_worker = _by(table.worker, table, moves, table.n_workers)
    by_instance = _by(table.instance, table, moves, table.n_instances)
    cells = np.unique(
        table.worker * table.n_instances + table.instance, return_inverse=True
    )
    by_cell = _by(cells[1], table, moves, len(cells[0]))
    noise = by_cell.T @ by_cell
    between = by_worker.T @ by_worker * _factor(table.n_workers)
    beyond = by_instance.T @ by_instance * _factor(table.n_instances) - noise
    if table.n_instances < 2:
        beyond = np.zeros_like(noise)
    shares = _by(table.worker, table, share, table.n_workers)
    counts = _by(table.worker, table, np.ones(len(table)), table.n_workers)
    variances = variances_of(table)
    return SystemEstimates(
        systems=table.systems,
        means=means,
        n=counts.sum(axis=0).astype(np.int64),
        n_workers=(counts > 0).sum(axis=0),
        effective_workers=1 / (shares**2).sum(axis=0),
        largest_share=shares.max(axis=0),
        variances=variances,
        worker_part=between,
        instance_part=beyond,
        floor=noise * variances.unexplained,
        worker_freedom=_freedom(shares),
        n_instances=table.n_instances,
        day_part=np.zeros_like(noise),
    )


def weighted_interval(
    values: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    chances: npt.ArrayLike,
    *,
    confidence: float = 0.95,
) -> Interval:
    """Give one system's mean over all instances with its interval.

    Parameters
    ----------
    values, workers, instances, chances : array_like, shape (n,)
        As in `weighted_systems`.
    confidence : float
        Nominal coverage.

    Returns
    -------
    Interval
        `n` is the number of instances. Of one worker's ratings it does not cover others,
        and says so.

    Raises
    ------
    ValueError
        As `weighted_systems`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rated = np.arange(200)
    >>> one = weighted_interval(
    ...     rng.normal(5, 1, 200), rated % 20, rated, rng.uniform(0.2, 0.8, 200)
    ... )
    >>> one.low < 5 < one.high, one.n
    (True, 200)
    """
    from scipy import special

    check_confidence(confidence)
    one = np.zeros(len(np.asarray(values)), dtype=np.int64)
    fit = weighted_systems(values, one, workers, instances, chances)
    n = fit.n_instances
    if fit.n_workers[0] > 1:
        found = fit.interval("0", confidence=confidence)
        return replace(found, method=_METHOD, n=n)
    # nothing says how another worker would rate: instances alone
    _, place = np.unique(np.asarray(instances), return_inverse=True)
    weight = 1 / np.asarray(chances, dtype=np.float64) / np.bincount(place)[place]
    mean = float(fit.means[0])
    moves = weight / weight.sum() * (np.asarray(values, dtype=np.float64) - mean)
    variance = float((np.bincount(place, moves) ** 2).sum()) * _factor(n)
    reach = float(special.stdtrit(max(n - 1, 1), (1 + confidence) / 2)) * variance**0.5
    return Interval(mean, mean - reach, mean + reach, confidence, _METHOD, _ALONE, n)


def _shares(table: RatingTable, weight: Floats) -> Floats:
    """Give each rating's share in its system's mean; an instance's ratings share its own."""
    output = table.system * table.n_instances + table.instance
    _, place = np.unique(output, return_inverse=True)
    each = weight / np.bincount(place)[place]
    return np.asarray(each / np.bincount(table.system, each)[table.system])


def _by(
    rows: npt.NDArray[np.intp], table: RatingTable, values: Floats, n_rows: int
) -> Floats:
    """Add up values by level and system."""
    key = rows * table.n_systems + table.system
    sums = np.bincount(key, values, n_rows * table.n_systems)
    return np.asarray(sums.reshape(n_rows, table.n_systems))


def _factor(n: int) -> float:
    return n / (n - 1) if n > 1 else 1.0


def _freedom(shares: Floats) -> Floats:
    """Give degrees of freedom: of as many workers as would weigh the same; NaN of one."""
    squares = shares**2
    sums, products = squares.sum(axis=0), squares.T @ squares
    own = np.diag(products)
    freedom = (sums[:, None] + sums) ** 2 / (own[:, None] + own + 2 * products) - 1
    np.fill_diagonal(freedom, sums**2 / own - 1)
    freedom = np.maximum(freedom, 1.0)
    alone = (shares > 0).sum(axis=0) < 2
    freedom[alone] = freedom[:, alone] = np.nan
    return np.asarray(freedom)
