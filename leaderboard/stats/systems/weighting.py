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
import numpy.typing as npt

from leaderboard.stats.intervals import Floats
from leaderboard.stats.systems.table import (
    Codes,
    RatingTable,
    Variances,
    cell_counts,
    sums_by,
)

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


def weigh_systems(table: RatingTable, variances: Variances) -> Weighting:
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


# Contributions of each worker, each instance and each rating to systems' means.
@dataclass(frozen=True)
class Influence:
    """Contributions to the means of a mixed model.

    Parameters
    ----------
    shifts : ndarray, shape (workers, systems)
        Change of the means without a worker; 0 for a system that no other worker
        rated.
    weight : ndarray, shape (workers, systems)
        Sums of the weights of a worker's ratings.
    shares : ndarray, shape (workers, systems)
        Share of a worker in the weight of a system's own ratings; a column adds up to
        1.
    counts : ndarray of int, shape (workers, systems)
        Ratings.
    instance_scores : ndarray, shape (instances, systems)
        Sums of weighted residuals of an instance.
    squares : ndarray, shape (systems, systems)
        Sums of products of cells' weighted residuals; a cell is a worker's ratings of
        one instance on one day.
    day_weight : ndarray, shape (days, systems)
        Sums of the weights of a day's ratings.
    """

    shifts: Floats
    weight: Floats
    shares: Floats
    counts: npt.NDArray[np.int64]
    instance_scores: Floats
    squares: Floats
    day_weight: Floats


def influence_of(
    equations: Weighting, bread: Floats, means: Floats, *, by_cell: bool = True
) -> Influence:
    """Compute the contributions of workers and instances.

    Parameters
    ----------
    bread : ndarray, shape (systems, systems)
        Inverse of the equations' information.
    means : ndarray, shape (systems,)
        Their solution.
    by_cell : bool
        Whether a worker's ratings of an instance are a cell; else each rating is one.

    References
    ----------
    Preisser and Qaqish (1996), Biometrika 83, section 2, for leaving out a cluster of
    weighted estimating equations.
    """
    table = equations.table
    counts = cell_counts(table)
    precision = equations.precision
    residuals = precision[table.worker] * (table.values - means[table.system])
    sums = _sums(table, equations.borrowed, counts)
    score, instance_scores, squares = _scores(equations, sums, residuals, by_cell)
    shifts, shares = np.zeros_like(sums), np.zeros_like(sums)
    alone = (counts > 0).sum(axis=0) < 2
    for workers, systems, own in _by_system(equations, sums):
        shares[workers, systems] = np.einsum("ks,ks->k", own, bread[systems])
        first, last = int(workers[0]), int(workers[-1]) + 1
        parts = np.searchsorted(workers, np.arange(first, last + 1))
        for worker, start, end in zip(
            range(first, last), parts[:-1], parts[1:], strict=True
        ):
            part = slice(start, end)
            shifts[worker] = _without(
                equations.information, systems[part], own[part], score[worker], alone
            )
    kept = 1 - equations.shrinkage * np.bincount(table.worker)
    return Influence(
        shifts,
        (precision * kept)[:, None] * sums,
        shares,
        counts,
        instance_scores,
        squares,
        _day_weight(equations, sums),
    )


def _day_weight(equations: Weighting, sums: Floats) -> Floats:
    table = equations.table
    each = equations.precision[table.worker]
    if not table.n_days:
        return np.zeros((0, table.n_systems))
    taken = equations.shrinkage[:, None] * sums
    weight = _sum_by(table.day, table.system, each, (table.n_days, table.n_systems))
    first = table.n_instances
    weight -= _borrowed_by_level(table, each, equations.borrowed)[first:]
    weight -= (_cross_terms(table, each).T @ taken)[first:]
    return weight


def _borrowed_by_level(table: RatingTable, values: Floats, borrowed: Floats) -> Floats:
    from scipy import sparse

    sums = sum(sums_by(levels, values, table.n_levels) for levels in table.levels)
    found: Floats = np.asarray(sums)[:, None] * borrowed
    if table.n_days:
        shape = (table.n_levels, table.n_levels)
        instances, days = table.levels
        both: Any = sparse.csr_matrix((values, (instances, days)), shape=shape)
        found += both @ borrowed + both.T @ borrowed
    return found


def _cross_terms(table: RatingTable, values: Floats) -> Any:
    ends = np.cumsum(np.bincount(table.worker, minlength=table.n_workers))
    return _sparse(table, values, np.concatenate([[0], ends]))


def _sparse(table: RatingTable, values: Floats, ends: Codes) -> Any:
    from scipy import sparse

    shape = (len(ends) - 1, table.n_levels)
    parts = [
        sparse.csr_matrix((values, levels, ends), shape=shape)
        for levels in table.levels
    ]
    return sum(parts[1:], parts[0])


def _sums(
    table: RatingTable, borrowed: Floats, counts: npt.NDArray[np.int64]
) -> Floats:
    sums: Floats = counts - _cross_terms(table, np.ones(len(table))) @ borrowed
    return sums


def _scores(
    equations: Weighting, sums: Floats, residuals: Floats, by_cell: bool
) -> tuple[Floats, Floats, Floats]:
    """Add up weighted residuals by worker and by instance, and products of cells'.

    A rating's weights are its row of X less the parts borrowed from its levels and
    subtracted for its worker; each sum of them consists of sums over the table.
    """
    from scipy import sparse

    table, borrowed = equations.table, equations.borrowed
    taken = equations.shrinkage[:, None] * sums
    once = residuals
    crossed = _cross_terms(table, once)
    score = _sum_by(table.worker, table.system, once, sums.shape) - crossed @ borrowed
    score -= sums_by(table.worker, once, table.n_workers)[:, None] * taken
    instance = _by_level(table, once) - _borrowed_by_level(table, once, borrowed)
    instance -= crossed.T @ taken
    # ratings of one worker and instance together: levels cancel in their differences
    key = table.worker if by_cell else np.arange(len(table))
    for levels in table.levels:
        key = key * table.n_levels + levels
    cells, cell = np.unique(key, return_inverse=True)
    totals: Any = sparse.csr_matrix(
        (once, (cell, table.system)), shape=(len(cells), table.n_systems)
    )
    twice = once * sums_by(cell, once, len(cells))[cell]
    own = _by_level(table, twice) - _borrowed_by_level(table, twice, borrowed) / 2
    mixed = own.T @ borrowed
    mixed += _sum_by(table.worker, table.system, twice, sums.shape).T @ taken
    mixed -= borrowed.T @ (_cross_terms(table, twice).T @ taken)
    squares = (totals.T @ totals).toarray() - mixed - mixed.T
    squares += taken.T @ (
        sums_by(table.worker, twice, table.n_workers)[:, None] * taken
    )
    return score, instance[: table.n_instances], squares


def _by_level(table: RatingTable, values: Floats) -> Floats:
    shape = (table.n_levels, table.n_systems)
    parts = [_sum_by(levels, table.system, values, shape) for levels in table.levels]
    return sum(parts[1:], parts[0])


def _sum_by(
    rows: Codes, columns: Codes, values: Floats, shape: tuple[int, ...]
) -> Floats:
    key = rows * shape[1] + columns
    return sums_by(key, values, shape[0] * shape[1]).reshape(shape)


def _by_system(
    equations: Weighting, sums: Floats
) -> Iterator[tuple[Codes, Codes, Floats]]:
    table = equations.table
    key = table.worker * table.n_systems + table.system
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    worker, system = key[starts] // table.n_systems, key[starts] % table.n_systems
    ends = np.append(starts, len(key))
    sizes = np.diff(ends).astype(np.float64)
    pairs = _sparse(table, np.ones(len(key)), ends)
    per_worker = np.cumsum(np.bincount(worker, minlength=table.n_workers))
    begin = 0
    while begin < len(starts):
        full = begin + max(BLOCK // table.n_systems, 1)
        last = int(np.searchsorted(per_worker, full).item())
        end = int(per_worker[min(last, len(per_worker) - 1)])
        rows = slice(begin, end)
        own: Floats = -(pairs[rows] @ equations.borrowed)
        own[np.arange(end - begin), system[rows]] += sizes[rows]
        taken = equations.shrinkage[worker[rows]] * sizes[rows]
        own -= taken[:, None] * sums[worker[rows]]
        own *= equations.precision[worker[rows], None]
        yield worker[rows], system[rows], own
        begin = end


def _without(
    information: Floats,
    systems: Codes,
    own: Floats,
    score: Floats,
    alone: npt.NDArray[np.bool_],
) -> Floats:
    """Solve the equations less one worker's; only differences from before matter."""
    rest = information.copy()
    rest[:, systems] -= own.T
    kept = np.ones(len(score), dtype=np.bool_)
    # a system that only this worker rated has no mean without them
    kept[systems[alone[systems]]] = False
    shift = np.zeros_like(score)
    if kept.any():
        inside = rest if kept.all() else rest[np.ix_(kept, kept)]
        try:
            shift[kept] = -np.linalg.solve(inside, score[kept])
        except np.linalg.LinAlgError:
            # the rest does not determine some difference: take the smallest shift that
            # fits
            shift[kept] = -np.linalg.lstsq(inside, score[kept], rcond=None)[0]
    return shift


def contrasts(part: Floats) -> Floats:
    """Return the part of a covariance in each mean (diagonal) and each difference.

    Examples
    --------
    >>> contrasts(np.array([[2.0, 1.0], [1.0, 3.0]])).tolist()
    [[2.0, 3.0], [3.0, 3.0]]
    """
    own = np.diag(part)
    both = own[:, None] + own[None, :] - part - part.T
    np.fill_diagonal(both, own)
    return both
