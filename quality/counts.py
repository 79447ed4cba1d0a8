"""Counts of right answers, merged if rows are equal."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def as_counts(correct: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Ints, Ints]:
    """Return counts of right answers and of questions, broadcast.

    Parameters
    ----------
    correct : array_like of int, shape (n_workers,) or scalar
        Test questions answered right, 0 <= correct <= n.
    n : array_like of int, shape (n_workers,) or scalar
        Test questions answered.
    """
    right, answered = np.broadcast_arrays(
        np.asarray(correct, dtype=np.int64), np.asarray(n, dtype=np.int64)
    )
    return right, answered


@dataclass(frozen=True)
class MergedCounts:
    """Distinct (correct, n) pairs with the number of workers that share each.

    Attributes
    ----------
    correct, n : ndarray of int64, shape (n_rows,)
        The distinct pairs, sorted.
    weight : ndarray of float64, shape (n_rows,)
        Workers per pair, > 0.
    """

    correct: Ints
    n: Ints
    weight: Floats


def merge_counts(correct: Ints, n: Ints) -> MergedCounts:
    """Merge workers with equal counts, whose likelihood is the same.

    The rows do not depend on the order of the workers.
    """
    order = np.lexsort((correct, n))
    x, m = correct[order], n[order]
    first = np.ones(len(x), dtype=bool)
    first[1:] = (x[1:] != x[:-1]) | (m[1:] != m[:-1])
    weight = np.diff(np.append(np.flatnonzero(first), len(x))).astype(np.float64)
    return MergedCounts(x[first], m[first], weight)
