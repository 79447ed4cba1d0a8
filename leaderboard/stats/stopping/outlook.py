"""The course of a running comparison and the labels it still needs."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats
from leaderboard.stats.stopping.rules import ConfidenceRule

FARTHEST = 1_000_000


def labels_needed(
    rule: ConfidenceRule, n: int, total: float, *, farthest: int = FARTHEST
) -> int | None:
    """Project when the rule decides if the mean of the labels stays the same.

    Parameters
    ----------
    n : int
        Labels so far, >= 0.
    total : float
        Their sum, between 0 and n.

    Returns
    -------
    int or None
        Labels in total, at least n; None if the mean is one half, there is no label
        yet, or it would take more than `farthest`.

    Notes
    -----
    This is a projection, not a promise: the mean will not stay exactly as it is.

    Examples
    --------
    >>> from leaderboard.stats.stopping.sequential import default_rule
    >>> labels_needed(default_rule(0.025), 20, 14)
    60
    >>> labels_needed(default_rule(0.025), 20, 10) is None
    True
    """
    if n == 0 or total == n / 2:
        return None
    mean = total / n
    decides = rule.favours_a if mean > 0.5 else rule.favours_b
    if bool(decides(n, total)):
        return n
    # at a mean other than one half every rule decides at some number of labels: double,
    # then halve
    low, high = n, 2 * n
    while not bool(decides(high, high * mean)):
        low, high = high, 2 * high
        if low > farthest:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if bool(decides(middle, middle * mean)) else (middle, high)
        )
    return high if high <= farthest else None


@dataclass(frozen=True)
class Course:
    """The running estimate of P(A preferred) with its interval, label by label.

    Parameters
    ----------
    n : ndarray of int, shape (m,)
        Numbers of labels, ascending.
    estimate, low, high : ndarray, shape (m,)
        In [0, 1].
    """

    n: npt.NDArray[np.int64]
    estimate: Floats
    low: Floats
    high: Floats


def course_of(
    rule: ConfidenceRule, labels: npt.ArrayLike, *, most_points: int = 120
) -> Course:
    """Compute the running estimate of a series of labels.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Between 0 (B) and 1 (A), in their order; may be empty.
    most_points : int, optional
        Largest number of points, including the first and the last label; >= 2.

    Examples
    --------
    >>> from leaderboard.stats.stopping.sequential import default_rule
    >>> course = course_of(default_rule(0.025), [1, 1, 0, 1])
    >>> course.n.tolist(), course.estimate.round(2).tolist()
    ([1, 2, 3, 4], [1.0, 1.0, 0.67, 0.75])
    """
    series = np.asarray(labels, dtype=np.float64)
    if series.ndim != 1 or not ((series >= 0) & (series <= 1)).all():
        raise ValueError("Every label lies between 0 (B) and 1 (A).")
    if most_points < 2:
        raise ValueError(f"A course has at least two points, not {most_points}.")
    if not len(series):
        empty = np.empty(0)
        return Course(np.empty(0, dtype=np.int64), empty, empty, empty)
    points = np.unique(
        np.linspace(1, len(series), min(most_points, len(series)))
        .round()
        .astype(np.int64)
    )
    totals = np.cumsum(series)[points - 1]
    low, high = rule.interval(points, totals)
    return Course(points, totals / points, low, high)
