"""How systems' means move when a worker is left out."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.jackknife import influence_of
from leaderboard.stats.systems.table import rating_table
from leaderboard.stats.systems.variances import Variances, variances_of
from leaderboard.stats.systems.weighting import weighting


def worker_shifts(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike | None = None,
    *,
    variances: Variances | None = None,
) -> tuple[list[Hashable], Floats]:
    """Give by how much leaving out each worker moves each system's mean.

    Parameters
    ----------
    values, systems, workers, instances
        As for :func:`leaderboard.stats.systems.estimates.estimate_systems`.
    variances : Variances, optional
        Those of the same ratings, where they are known.

    Returns
    -------
    workers : list
        Labels, in the order of the rows.
    shifts : ndarray, shape (n_workers, n_systems)
        Systems ascend by name; 0 where nobody else rated the system.

    References
    ----------
    See :func:`leaderboard.stats.systems.jackknife.influence_of`.

    Examples
    --------
    >>> labels, shifts = worker_shifts([1, 4, 4], list("aaa"), list("xyz"))
    >>> dict(zip(labels, shifts[:, 0].round(3).tolist()))["x"]
    1.0
    """
    table = rating_table(values, systems, workers, instances)
    equations = weighting(table, variances or variances_of(table))
    bread: Floats = np.asarray(np.linalg.inv(equations.information), np.float64)
    influence = influence_of(equations, bread, bread @ equations.right)
    given = np.asarray(workers)[table.row]
    first = np.searchsorted(table.worker, np.arange(table.n_workers))
    return given[first].tolist(), influence.shifts
