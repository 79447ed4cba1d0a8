"""Means of systems over fixed raters: only instances are a sample.

A linear model of fixed raters is fitted by generalized least squares. Instances are
clusters with a random effect, whose variance affects precision only: the covariance is
cluster-robust by bias-reduced linearization (CR2), and each mean and each difference has
degrees of freedom by Satterthwaite's approximation.
"""

from typing import Any

import numpy as np

from leaderboard.stats.intervals import Floats
from leaderboard.stats.mixed import pilot_components
from leaderboard.stats.systems.table import Codes, RatingTable, cell_counts
from leaderboard.stats.systems.weighting import contrasts

# Eigenvalues below this share of the largest are rounding errors.
_ZERO = 1e-9
# Limit of multiplications for the exact degrees of freedom; beyond it, they are the
# effective number of instances less one.
_AFFORDABLE = 1e9
# A variance is unknown if more of it comes from instances without a residual.
_MOST_LOST = 0.5
# Raters have equal weights if there are not too many of them and systems, and if this
# increases no variance by more than this factor.
_MOST_COST = 2.0
_MOST_CELLS = 1_000
# Least variance of raters' tastes, as a share of the residual's: estimates of it are often
# 0 by chance.
_LEAST_TASTE = 0.02


def estimate_fixed(
    table: RatingTable, weights: Floats, ratio: float
) -> tuple[Floats, Floats, Floats]:
    """Estimate systems' means over the raters of a table.

    Parameters
    ----------
    weights : ndarray, shape (n,)
        Of each rating, > 0.
    ratio : float
        Variance of instances over that of residuals; any choice gives valid intervals.

    Returns
    -------
    means, covariance, freedom : ndarray
        Degrees of freedom as in `SystemEstimates`; NaN if there is no estimate.

    Notes
    -----
    Raters' interaction with systems is averaged over them with equal weights. If loads
    are too unequal for that, it is a random effect: each cell is one more cluster with an
    observation of 0. Systems without common raters, directly or through other systems,
    have means over different raters, and their difference is unknown.

    References
    ----------
    Bell and McCaffrey (2002), Survey Methodology 28; Pustejovsky and Tipton (2018),
    Journal of Business & Economic Statistics 36, sections 2 and 3.
    """
    from scipy import sparse

    n, s, counts = len(table), table.n_systems, np.bincount(table.instance)
    order = np.argsort(table.instance, kind="stable")
    columns, targets, apart, effects = _model(table)
    root, rows = np.sqrt(weights[order]), np.arange(n)
    of_instance: Any = sparse.csr_matrix((np.ones(n), (table.instance[order], rows)))
    share: Any = sparse.diags((1 - 1 / np.sqrt(1 + ratio * counts)) / counts)
    places = np.tile(rows, len(columns)), columns[:, order].ravel()
    entries = np.tile(root, len(columns)), places
    design: Any = sparse.csr_matrix(entries, (n, len(targets)))
    design -= of_instance.T @ (share @ (of_instance @ design))
    design = sparse.vstack([design, effects]).tocsr()
    # centered, so that equal ratings leave no rounding errors
    values = root * (table.values - table.values.mean())[order]
    values = values - of_instance.T @ (share @ (of_instance @ values))
    values = np.append(values, np.zeros(effects.shape[0]))
    counts = np.append(counts, np.ones(effects.shape[0], dtype=np.int64))
    sizes, vectors = np.linalg.eigh((design.T @ design).toarray())
    kept = sizes > _ZERO * sizes[-1]
    vectors = vectors[:, kept] / np.sqrt(sizes[kept])
    solution, solved = vectors.T @ (design.T @ values), vectors.T @ targets
    residuals = values - design @ (vectors @ solution)
    whole = contrasts(solved.T @ solved)
    lost, squares = np.zeros((2, s, s)), np.zeros((s, s))
    scores, loads, ends = [], [], np.cumsum(counts)
    exact = s**2 * len(counts) * len(solved) ** 2 <= _AFFORDABLE
    for start, end in zip(ends - counts, ends, strict=True):
        turned = design[start:end] @ vectors
        # of the identity less the hat matrix, in the space of fitted values
        basis, sizes, _ = np.linalg.svd(turned, full_matrices=False)
        left = 1 - sizes**2
        expected, some = basis.T @ (turned @ solved), left > _ZERO
        lost[int(start >= n)] += expected[~some].T @ expected[~some]
        expected = expected[some]
        squares += contrasts(expected.T @ expected) ** 2
        adjusted = basis[:, some] @ (expected / np.sqrt(left[some, None]))
        scores.append(residuals[start:end] @ adjusted)
        loads += [turned.T @ adjusted] if exact else []
    squares += _between(np.array(loads)) if exact else squares**2 / whole**2
    rest = max(len(values) - len(solved), 1)
    covariance = np.array(scores).T @ np.array(scores)
    covariance += residuals @ residuals / rest * lost.sum(axis=0)
    unknown = apart | (contrasts(lost[0]) > _MOST_LOST * whole) | (squares <= 0)
    freedom = np.maximum(whole**2 / np.where(unknown, np.nan, squares), 1.0)
    return solved.T @ solution + table.values.mean(), covariance, freedom


def _between(loads: Floats) -> Floats:
    """Return sums of squared covariances of different instances' contributions."""
    n_systems = loads.shape[2]
    found = np.zeros((n_systems, n_systems))
    for i in range(n_systems):
        for j in range(i, n_systems):
            pair = loads[:, :, i] - (loads[:, :, j] if j > i else 0.0)
            own = (pair**2).sum(axis=1)
            found[i, j] = found[j, i] = ((pair.T @ pair) ** 2).sum() - own @ own
    return found


def _model(table: RatingTable) -> tuple[Codes, Floats, Any, Any]:
    """Return each rating's columns, the means' coefficients, unlinked systems, and rows."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    s = table.n_systems
    cells = cell_counts(table)
    cell = table.worker * s + table.system
    of_cells = np.tile(np.eye(s), (len(cells), 1))
    cost = (1 / np.maximum(cells, 0.1)).sum(axis=0) * cells.sum(axis=0)
    dear = _MOST_COST * len(cells) ** 2
    if cells.size <= _MOST_CELLS and cost.max() <= dear:
        # a mean of each rater and system, and a constant
        columns = np.vstack([cell, np.full_like(cell, cells.size)])
        targets = np.vstack([of_cells / len(cells), np.ones(s)])
        apart = np.zeros((s, s), dtype=bool)
        return columns, targets, apart, sparse.csr_matrix((0, len(targets)))
    columns = np.vstack([table.system, s + table.worker])
    size = s + table.n_workers
    links = sparse.csr_matrix((np.ones(len(table)), columns), shape=(size, size))
    label = connected_components(links, directed=False)[1]
    own = label[s:, None] == label[:s]
    targets = np.vstack([np.eye(s), own / own.sum(axis=0)])
    apart = label[:s, None] != label[:s]
    if cells.size > _MOST_CELLS or len(table) <= s:
        return columns, targets, apart, sparse.csr_matrix((0, size))
    found = pilot_components(
        table.values,
        instances=table.instance,
        workers=table.worker,
        systems=table.system,
        tastes=cell,
    )
    taste = max(found.taste / (found.residual or 1.0), _LEAST_TASTE)
    effects = sparse.eye(cells.size, size + cells.size, size) / taste**0.5
    targets = np.vstack([targets, of_cells * targets[s:].repeat(s, axis=0)])
    return np.vstack([columns, size + cell]), targets, apart, effects
