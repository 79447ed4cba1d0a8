"""The equations of a mixed model's means: the weight of each rating for each system.

With V the covariance of ratings under a model of worker and instance effects, the means
solve W'(y - X mu) = 0 with W = V^-1 X. Worker effects are eliminated in closed form,
instance and day effects by conjugate gradients for all systems at once, so that no
array larger than instances x systems is stored. If a worker's ratings of one system
resemble each other, those of busy workers are less precise, by one factor per worker.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.table import Codes, RatingTable, cell_counts, sums_by
from leaderboard.stats.systems.variances import Variances

_ITERATIONS = 1_000
_TOLERANCE = 1e-12
#: Numbers of one block of ratings x systems: 8 MB, which fits into caches.
BLOCK = 1_000_000


@dataclass(frozen=True)
class Weighting:
    """Estimating equations of the systems' means.

    Parameters
    ----------
    shrinkage : ndarray, shape (workers,)
        Shrinkage by a worker's level: 0 keeps ratings as they are, 1 over
        the worker's number of ratings leaves only differences within the worker.
    borrowed : ndarray, shape (instances + days, systems)
        Instances' and days' effects as functions of the systems' ratings.
    information : ndarray, shape (systems, systems)
        W'X.
    right : ndarray, shape (systems,)
        W'y.
    precision : ndarray, shape (workers,)
        Of one rating of a worker; 1 if all are equal.
    """

    table: RatingTable
    shrinkage: Floats
    borrowed: Floats
    information: Floats
    right: Floats
    precision: Floats

    def blocks(self) -> Iterator[tuple[slice, Codes, Floats]]:
        """Yield W by blocks of whole workers: rows, first row of each worker, weights."""
        table = self.table
        counts = np.bincount(table.worker, minlength=table.n_workers)
        ends = np.cumsum(counts)
        rows_at_once = max(BLOCK // table.n_systems, 1)
        first = 0
        while first < table.n_workers:
            start = int(ends[first] - counts[first])
            last = int(np.searchsorted(ends, start + rows_at_once, side="right"))
            last = max(last, first + 1)
            rows = slice(start, int(ends[last - 1]))
            starts = (ends[first:last] - counts[first:last] - start).astype(np.intp)
            yield rows, starts, self._weights(rows, starts)
            first = last

    def _weights(self, rows: slice, starts: Codes) -> Floats:
        table = self.table
        weights = -self.borrowed[table.instance[rows]]
        for levels in table.levels[1:]:
            weights -= self.borrowed[levels[rows]]
        weights[np.arange(len(weights)), table.system[rows]] += 1.0
        of_worker = np.add.reduceat(weights, starts, axis=0)
        first = int(table.worker[rows.start])
        of_worker *= self.shrinkage[first : first + len(starts), None]
        weights -= of_worker[table.worker[rows] - first]
        weights *= self.precision[table.worker[rows], None]
        return weights


def weighting(table: RatingTable, variances: Variances) -> Weighting:
    """Return the equations of the systems' means.

    Parameters
    ----------
    variances : Variances
        Any choice gives an unbiased estimate; a good one an efficient one.

    References
    ----------
    Henderson (1975), Biometrics 31, section 2; Ghosh, Hastie and Owen (2022),
    Backfitting for large scale crossed random effects regressions, Annals of
    Statistics 50, for its cost.

    Examples
    --------
    >>> from leaderboard.stats.systems.table import rating_table
    >>> table = rating_table([1, 3, 5], list("aab"), list("xyx"))
    >>> weighting(table, Variances(0.0, 0.0, 1.0, "given")).right.tolist()
    [4.0, 5.0]
    """
    from scipy import sparse

    shape = table.n_systems
    precision = _precision(table, variances)
    each = precision[table.worker]
    values = each * table.values

    # sparse matrices have types that differ with scipy's version
    def counts(rows: Codes, columns: Codes, n_rows: int, n_columns: int) -> Any:
        return sparse.csr_matrix((each, (rows, columns)), shape=(n_rows, n_columns))

    per_worker = np.bincount(table.worker, minlength=table.n_workers)
    ratio = variances.ratio("worker")
    # of sums that include the precision
    shrinkage: Floats = ratio / (1 + ratio * precision * per_worker.astype(np.float64))
    kept: Any = sparse.diags(shrinkage)
    system_worker = counts(table.system, table.worker, shape, table.n_workers)
    n_levels = table.n_levels
    level_worker: Any = sum(
        counts(levels, table.worker, n_levels, table.n_workers)
        for levels in table.levels
    )
    level_system: Any = sum(
        counts(levels, table.system, n_levels, shape) for levels in table.levels
    )
    crossed = (level_system - level_worker @ kept @ system_worker.T).toarray()
    sums = sums_by(table.worker, values, table.n_workers)
    right: Floats = sums_by(table.system, values, shape)
    right -= system_worker @ (shrinkage * sums)
    information: Floats = np.diag(sums_by(table.system, each, shape))
    information -= (system_worker @ kept @ system_worker.T).toarray()
    borrowed = np.zeros((n_levels, shape))
    ratios = np.repeat(
        [variances.ratio("instance"), variances.ratio("day")],
        [table.n_instances, table.n_days],
    )
    varying = np.flatnonzero(ratios)
    if len(varying):
        both = None
        if table.n_days:
            instances, days = table.levels
            both = counts(instances, days, n_levels, n_levels)
            both = (both + both.T)[varying][:, varying]
        borrowed[varying] = _effects(
            level_worker[varying],
            shrinkage,
            crossed[varying],
            1 / ratios[varying],
            both,
        )
        by_level = sum(sums_by(levels, values, n_levels) for levels in table.levels)
        by_level -= level_worker @ (shrinkage * sums)
        information -= crossed.T @ borrowed
        right -= borrowed.T @ by_level
    return Weighting(
        table, precision * shrinkage, borrowed, information, right, precision
    )


def _precision(table: RatingTable, variances: Variances) -> Floats:
    """Return each worker's precision, because ratings of one system repeat a part.

    As if the worker had rated each system equally often.
    """
    ratio = variances.ratio("taste")
    if not ratio:
        return np.ones(table.n_workers)
    counts = cell_counts(table)
    rated = np.maximum(counts.sum(axis=1), 1)
    alike: Floats = (counts.astype(np.float64) ** 2).sum(axis=1) / rated
    return 1 / (1 + ratio * (alike - 1))


def _effects(
    level_worker: Any, shrinkage: Floats, right: Floats, penalty: Floats, both: Any
) -> Floats:
    """Solve for instances' and days' effects by conjugate gradients.

    `both` counts the ratings that an instance and a day share; None without days.
    """
    from scipy import sparse

    shrunk = level_worker @ sparse.diags(shrinkage)
    transposed = level_worker.T.tocsr()
    diagonal = np.asarray(level_worker.sum(axis=1)).ravel()[:, None]
    diagonal = diagonal + penalty[:, None]
    solution = np.zeros_like(right)
    rest = right.copy()
    enough = _TOLERANCE * np.sqrt((right**2).sum(axis=0))
    step = rest / diagonal
    direction = step.copy()
    size = (rest * step).sum(axis=0)
    for _ in range(_ITERATIONS):
        moved = diagonal * direction - shrunk @ (transposed @ direction)
        if both is not None:
            moved += both @ direction
        length = size / np.maximum((direction * moved).sum(axis=0), 1e-300)
        solution += length * direction
        rest -= length * moved
        if (np.sqrt((rest**2).sum(axis=0)) <= enough).all():
            break
        step = rest / diagonal
        before, size = size, (rest * step).sum(axis=0)
        direction = step + size / np.maximum(before, 1e-300) * direction
    return solution
