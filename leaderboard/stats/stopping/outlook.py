"""The course of a running comparison and the labels it still needs."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats
from leaderboard.stats.stopping.sequential import LiveRule
from leaderboard.stats.stopping.sign_flips import Flips

FARTHEST = 1_000_000


def labels_needed(
    rule: LiveRule,
    labels: Sequence[float],
    workers: Sequence[Hashable] = (),
    *,
    farthest: int = FARTHEST,
) -> int | None:
    """Project when the rule decides if the mean of the labels stays the same.

    Returns
    -------
    int or None
        Labels in total; None if the mean is one half, there is no label yet, it would
        take more than `farthest`, or the same workers cannot decide.

    Examples
    --------
    >>> from leaderboard.stats.stopping.sequential import BetaMixture
    >>> labels_needed(BetaMixture(0.025), [1] * 14 + [0] * 6)
    60
    >>> labels_needed(BetaMixture(0.025), [1, 0] * 10) is None
    True
    """
    n, total = len(labels), sum(labels)
    if n == 0 or total == n / 2:
        return None
    series, mean = rule.series(labels, workers), total / n
    if isinstance(series, Flips):
        return series.labels_to_decide()
    if series.decides(n, total):
        return n
    # At any mean except one half, every rule decides at some number of labels: double,
    # then halve
    low, high = n, 2 * n
    while not series.decides(high, high * mean):
        low, high = high, 2 * high
        if low > farthest:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        is_enough = series.decides(middle, middle * mean)
        low, high = (low, middle) if is_enough else (middle, high)
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
    rule: LiveRule,
    labels: npt.ArrayLike,
    workers: Sequence[Hashable] = (),
    *,
    most_points: int = 120,
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
    >>> from leaderboard.stats.stopping.sequential import BetaMixture
    >>> course = course_of(BetaMixture(0.025), [1, 1, 0, 1])
    >>> course.n.tolist(), course.estimate.round(2).tolist()
    ([1, 2, 3, 4], [1.0, 1.0, 0.67, 0.75])
    """
    series = np.asarray(labels, dtype=np.float64)
    if not len(series):
        empty = np.empty(0)
        return Course(np.empty(0, dtype=np.int64), empty, empty, empty)
    points = np.unique(
        np.linspace(1, len(series), min(most_points, len(series)))
        .round()
        .astype(np.int64)
    )
    totals = np.cumsum(series)[points - 1]
    low, high = rule.series(series, workers).interval(points, totals)
    return Course(points, totals / points, low, high)
