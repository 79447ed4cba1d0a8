"""Counts of right answers: checked once at the door, merged where rows are equal."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Above this a double cannot tell neighbouring sums of gamma functions apart.
LARGEST_COUNT = 10**9


def check_counts(correct: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Ints, Ints]:
    """Refuse anything that is not "so many right of so many asked".

    Parameters
    ----------
    correct : array_like of int, shape (n_workers,) or scalar
        Test questions answered right, 0 <= correct <= n.
    n : array_like of int, shape (n_workers,) or scalar
        Test questions answered, 0 <= n <= 1e9.

    Returns
    -------
    tuple of ndarray of int64
        Both, broadcast against each other.

    Raises
    ------
    ValueError
        When a count is not a number, is negative, fractional or too large, when more
        are right than were asked, or when the lengths differ.

    Examples
    --------
    >>> check_counts([3, 0], [4, 0])
    (array([3, 0]), array([4, 0]))
    >>> check_counts([5], [4])
    Traceback (most recent call last):
    ...
    ValueError: Worker 0 has 5 right answers of only 4.
    """
    right = _whole_numbers(correct, "right answers")
    answered = _whole_numbers(n, "answered questions")
    if right.shape != answered.shape and right.ndim and answered.ndim:
        raise ValueError(
            f"There are {right.size} counts of right answers but {answered.size} counts "
            "of answered questions."
        )
    right, answered = np.broadcast_arrays(right, answered)
    if np.any(right > answered):
        row = int(np.flatnonzero(np.ravel(right > answered))[0])
        raise ValueError(
            f"Worker {row} has {np.ravel(right)[row]} right answers "
            f"of only {np.ravel(answered)[row]}."
        )
    return right, answered


def _whole_numbers(values: npt.ArrayLike, what: str) -> Ints:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"The counts of {what} must be whole numbers.") from None
    if numbers.ndim > 1:
        raise ValueError(f"The counts of {what} must be one row of numbers.")
    for bad, word in (
        (np.isnan(numbers), "not a number"),
        (numbers < 0, "negative"),
        (numbers > LARGEST_COUNT, "larger than 1e9"),
        (numbers != np.floor(numbers), "not a whole number"),
    ):
        if np.any(bad):
            row = int(np.flatnonzero(np.ravel(bad))[0])
            raise ValueError(
                f"The counts of {what} must be whole numbers from 0 on; number {row} "
                f"({np.ravel(numbers)[row]:g}) is {word}."
            )
    return numbers.astype(np.int64)


@dataclass(frozen=True)
class MergedCounts:
    """Distinct (correct, n) pairs with how many workers share each.

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

    Parameters
    ----------
    correct, n : ndarray of int64, shape (n_workers,)
        Checked counts.

    Returns
    -------
    MergedCounts
        Its rows do not depend on the order of the workers.

    Examples
    --------
    >>> merged = merge_counts(np.array([2, 1, 2]), np.array([2, 3, 2]))
    >>> merged.correct.tolist(), merged.n.tolist(), merged.weight.tolist()
    ([2, 1], [2, 3], [2.0, 1.0])
    """
    order = np.lexsort((correct, n))
    x, m = correct[order], n[order]
    first = np.ones(len(x), dtype=bool)
    first[1:] = (x[1:] != x[:-1]) | (m[1:] != m[:-1])
    starts = np.flatnonzero(first)
    weight = np.diff(np.append(starts, len(x))).astype(np.float64)
    return MergedCounts(x[first], m[first], weight)
