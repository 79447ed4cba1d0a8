"""Counts of right answers: checked on entry, merged if rows are equal."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Above this a double cannot distinguish neighboring sums of gamma functions.
LARGEST_COUNT = 10**9


def check_counts(correct: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Ints, Ints]:
    """Check counts of right answers and of questions; return them broadcast.

    Parameters
    ----------
    correct : array_like of int, shape (n_workers,) or scalar
        Test questions answered right, 0 <= correct <= n.
    n : array_like of int, shape (n_workers,) or scalar
        Test questions answered, 0 <= n <= 1e9.

    Raises
    ------
    ValueError
        If a count is not a number, is negative, fractional or too large, if more are
        right than were asked, or if the lengths differ.
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
