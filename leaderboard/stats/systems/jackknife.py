"""What each worker, each instance and each rating contributes to systems' means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.table import Codes, RatingTable
from leaderboard.stats.systems.weighting import Weighting


@dataclass(frozen=True)
class Influence:
    """Contributions to the means of a mixed model.

    Parameters
    ----------
    shifts : ndarray, shape (workers, systems)
        How the means move when a worker is left out; 0 for a system that nobody else
        rated.
    weight : ndarray, shape (workers, systems)
        Sums of the weights of a worker's ratings.
    shares : ndarray, shape (workers, systems)
        Share of a worker in the weight of a system's own ratings; a column adds up to 1.
    counts : ndarray of int, shape (workers, systems)
        Ratings.
    instance_scores : ndarray, shape (instances, systems)
        Sums of weighted residuals of an instance.
    squares : ndarray, shape (systems, systems)
        Sums of products of single ratings' weighted residuals.
    """

    shifts: Floats
    weight: Floats
    shares: Floats
    counts: npt.NDArray[np.int64]
    instance_scores: Floats
    squares: Floats


def influence_of(equations: Weighting, bread: Floats, means: Floats) -> Influence:
    """Go through the ratings once and collect what workers and instances contribute.

    Parameters
    ----------
    equations : Weighting
    bread : ndarray, shape (systems, systems)
        Inverse of the equations' information.
    means : ndarray, shape (systems,)
        Their solution.

    Returns
    -------
    Influence

    References
    ----------
    Preisser and Qaqish (1996), Biometrika 83, section 2, for leaving out a cluster of
    weighted estimating equations.

    Examples
    --------
    >>> from leaderboard.stats.systems.table import rating_table
    >>> from leaderboard.stats.systems.variances import Variances
    >>> from leaderboard.stats.systems.weighting import weighting
    >>> table = rating_table([1, 4, 4], list("aaa"), list("xyz"))
    >>> equations = weighting(table, Variances(0.0, 0.0, 1.0, "given"))
    >>> influence_of(equations, np.eye(1) / 3, np.array([3.0])).shifts.tolist()
    [[1.0], [-0.5], [-0.5]]
    """
    from scipy import sparse

    table = equations.table
    n_workers, n_systems = table.n_workers, table.n_systems
    counts = _counts(table)
    found = Influence(
        np.zeros((n_workers, n_systems)),
        np.zeros((n_workers, n_systems)),
        np.zeros((n_workers, n_systems)),
        counts,
        np.zeros((table.n_instances, n_systems)),
        np.zeros((n_systems, n_systems)),
    )
    alone = (counts > 0).sum(axis=0) < 2
    residuals = table.values - means[table.system]
    for rows, starts, weights in equations.blocks():
        first = int(table.worker[rows.start])
        found.weight[first : first + len(starts)] = np.add.reduceat(weights, starts)
        workers, systems, own = _by_system(table, rows, weights)
        found.shares[workers, systems] = np.einsum("ks,ks->k", own, bread[systems])
        weights *= residuals[rows, None]
        scores = np.add.reduceat(weights, starts)
        parts = np.searchsorted(workers, np.arange(first, first + len(starts) + 1))
        for worker, score in enumerate(scores):
            part = slice(parts[worker], parts[worker + 1])
            found.shifts[first + worker] = _without(
                equations.information, systems[part], own[part], score, alone
            )
        n = len(weights)
        collect: Any = sparse.csr_matrix(
            (np.ones(n), (table.instance[rows], np.arange(n))),
            shape=(table.n_instances, n),
        )
        np.add(found.instance_scores, collect @ weights, out=found.instance_scores)
        np.add(found.squares, weights.T @ weights, out=found.squares)
    return found


def _by_system(
    table: RatingTable, rows: slice, weights: Floats
) -> tuple[Codes, Codes, Floats]:
    """Add up the weights of each worker's ratings of each system."""
    key = table.worker[rows] * table.n_systems + table.system[rows]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    key = key[starts]
    return (
        key // table.n_systems,
        key % table.n_systems,
        np.add.reduceat(weights, starts),
    )


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
    # a system that this worker alone rated has no mean without it
    kept[systems[alone[systems]]] = False
    shift = np.zeros_like(score)
    if kept.all():
        shift[:] = -np.linalg.solve(rest, score)
    elif kept.any():
        shift[kept] = -np.linalg.solve(rest[np.ix_(kept, kept)], score[kept])
    return shift


def _counts(table: RatingTable) -> npt.NDArray[np.int64]:
    """Count each worker's ratings of each system."""
    key = table.worker * table.n_systems + table.system
    counts = np.bincount(key, minlength=table.n_workers * table.n_systems)
    return counts.reshape(table.n_workers, table.n_systems).astype(np.int64)
