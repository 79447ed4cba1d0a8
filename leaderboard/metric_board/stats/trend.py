"""Whether a metric still follows people as systems improve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.pairs import as_groups
from leaderboard.metric_board.stats.system_level import SystemStatistic, system_rows
from leaderboard.stats.resampling import Floats

Ints = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Trend:
    """A system-level statistic on successive sets of systems.

    Parameters
    ----------
    sets : list of ndarray of int
        Positions of the systems in each set.
    values : ndarray, shape (len(sets),)
        The statistic on each; NaN where undefined.
    """

    sets: list[Ints]
    values: Floats


def over_time(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    handed_in: npt.ArrayLike,
    *,
    statistic: SystemStatistic = "pairwise-accuracy",
    width: int = 10,
) -> Trend:
    """Follow a metric's agreement with people through windows of successive systems.

    Parameters
    ----------
    human, metric : array_like, shape (s,)
        Scores of each system; NaN on people's side leaves a system out.
    handed_in : array_like, shape (s,)
        When, in any unit that sorts; equal times keep the order given.
    statistic : str
        See `leaderboard.metric_board.stats.system_level.system_rows`.
    width : int
        Systems in a window, at least 2.

    Returns
    -------
    Trend
        Windows from the earliest to the latest, each one system on; one window of all
        when there are fewer than `width`, none for fewer than two systems.

    Raises
    ------
    ValueError
        On shapes that do not fit or a window of fewer than two.

    References
    ----------
    Mathur, Baldwin and Cohn (2020), Tangled up in BLEU, ACL, section 4.2, has windows
    by quality; these are by time.

    Examples
    --------
    >>> trend = over_time([1, 2, 3, 4], [1, 2, 4, 3], [10, 20, 30, 40], width=3)
    >>> trend.values.round(3).tolist()
    [1.0, 0.667]
    """
    if width < 2:
        raise ValueError(f"A window holds at least two systems, not {width}.")
    h, m = (rows[0] for rows in as_groups(human, metric))
    times = np.asarray(handed_in)
    if times.shape != h.shape:
        raise ValueError("Each system needs one time.")
    order = np.argsort(times, kind="stable")
    order = order[~np.isnan(h[order])]
    width = min(width, len(order))
    starts = range(len(order) - width + 1) if width >= 2 else range(0)
    return _on_sets(h, m, [order[start : start + width] for start in starts], statistic)


def among_the_best(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    statistic: SystemStatistic = "pairwise-accuracy",
    fewest: int = 4,
) -> Trend:
    """Follow a metric's agreement with people as weak systems are left out.

    Parameters
    ----------
    human, metric : array_like, shape (s,)
        Scores of each system; NaN on people's side leaves a system out.
    statistic : str
        See `leaderboard.metric_board.stats.system_level.system_rows`.
    fewest : int
        The last set has so many systems, at least 2.

    Returns
    -------
    Trend
        All systems first, then without the worst by people, and so on.

    Raises
    ------
    ValueError
        On shapes that do not fit or sets of fewer than two.

    References
    ----------
    Mathur, Baldwin and Cohn (2020), Tangled up in BLEU, ACL, section 4.2, figure 2.

    Examples
    --------
    >>> trend = among_the_best([1, 2, 3, 4], [1, 2, 4, 3], fewest=2)
    >>> trend.values.round(3).tolist()
    [0.833, 0.667, 0.0]
    """
    if fewest < 2:
        raise ValueError(f"A set holds at least two systems, not {fewest}.")
    h, m = (rows[0] for rows in as_groups(human, metric))
    order = np.argsort(-h, kind="stable")
    order = order[~np.isnan(h[order])]
    sizes = range(len(order), min(fewest, len(order)) - 1, -1)
    return _on_sets(h, m, [order[:size] for size in sizes if size >= 2], statistic)


def _on_sets(
    h: Floats, m: Floats, sets: list[Ints], statistic: SystemStatistic
) -> Trend:
    values = [float(system_rows(h[chosen], m[chosen], statistic)) for chosen in sets]
    return Trend(sets, np.array(values, dtype=np.float64))
