"""One metric's line of a metric board: all statistics with intervals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.metric_board.stats.calibration import calibrated_accuracy
from leaderboard.metric_board.stats.intervals import (
    grouped_interval,
    soft_accuracy_interval,
    system_interval,
)
from leaderboard.metric_board.stats.pairs import (
    VARIANTS,
    GroupedValue,
    instance_statistic,
)
from leaderboard.metric_board.stats.system_level import SYSTEM_STATISTICS
from leaderboard.stats.intervals import Floats

_NORMAL_95 = 1.959963984540054


def metric_line(
    slug: str,
    human: Floats,
    overall: Floats,
    by_instance: Floats | None,
    *,
    judged: npt.NDArray[np.bool_],
    seed: int,
) -> dict[str, Any]:
    """Compute one metric's line.

    Parameters
    ----------
    human : ndarray, shape (s, j)
        People's scores on the judged instances; NaN if none.
    overall : ndarray, shape (s,)
        The metric's value of each system, higher being better; NaN if none.
    by_instance : ndarray, shape (s, n) or None
        Its values of all outputs.
    judged : ndarray of bool, shape (n,)
        Which of the n instances are in `human`.

    Returns
    -------
    dict
        ``system`` and ``instance``: statistic to value, low, high (95%); ``points``:
        value and half-width for each system; ``complete``: whether the metric has scored
        every system. Unscored systems are left out of its statistics. Undefined numbers
        are None.

    Examples
    --------
    >>> human = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 5.0], [4.0, 4.0, 6.0]])
    >>> line = metric_line("m", human, human.mean(axis=1), human,
    ...                    judged=np.ones(3, bool), seed=1)
    >>> line["system"]["kendall"]["value"], line["complete"]
    (1.0, True)
    """
    known = np.isfinite(overall)
    if by_instance is not None:
        # a system with a missing score is left out: means over different instances are not
        # comparable; only instances that people rated need a score
        known &= np.isfinite(by_instance[:, judged]).all(axis=1)
    people, values = human[known], overall[known]
    table = None if by_instance is None else by_instance[known]
    line: dict[str, Any] = {
        "slug": slug,
        "complete": bool(known.all()),
        "n_systems": len(people),
        "points": _points(overall, by_instance),
        "system": {},
        "instance": {},
    }
    if len(people) < 2:
        return line
    part = None if table is None else table[:, judged]
    line["system"] = _system_level(people, values, part, seed)
    line["instance"] = {} if part is None else _instance_level(people, part, seed)
    return line


def rated_means(people: Floats) -> Floats:
    """Average scores of shape (s, j) per system over its rated instances; NaN without any.

    Examples
    --------
    >>> rated_means(np.array([[1.0, 3.0], [2.0, np.nan], [np.nan, np.nan]]))
    array([ 2.,  2., nan])
    """
    rated = ~np.isnan(people)
    n = rated.sum(axis=1)
    sums = np.where(rated, people, 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0))


def _points(overall: Floats, by_instance: Floats | None) -> list[list[float] | None]:
    half = np.full(len(overall), np.nan)
    for row, each in enumerate(by_instance if by_instance is not None else ()):
        there = each[np.isfinite(each)]
        if len(there) > 1:
            half[row] = _NORMAL_95 * there.std(ddof=1) / np.sqrt(len(there))
    return [
        [float(value), float(reach) if np.isfinite(reach) else 0.0]
        if np.isfinite(value)
        else None
        for value, reach in zip(overall, half, strict=True)
    ]


def _system_level(
    people: Floats, values: Floats, table: Floats | None, seed: int
) -> dict[str, Any]:
    # a metric of whole systems does not depend on the resampled instances
    spread = np.repeat(values[:, None], people.shape[1], axis=1)
    statistics: dict[str, Any] = {
        statistic: system_interval(
            people,
            spread if table is None else table,
            statistic,
            metric_system=values,
            seed=seed,
        ).flat("value")
        for statistic in SYSTEM_STATISTICS
    }
    if table is not None:
        statistics["soft-accuracy"] = _if_defined(
            lambda: soft_accuracy_interval(people, table, seed=seed)
        )
    return statistics


def _instance_level(people: Floats, table: Floats, seed: int) -> dict[str, Any]:
    statistics: dict[str, Any] = {
        variant: _group_line(instance_statistic(people, table, variant), seed)
        for variant in VARIANTS
    }
    best = calibrated_accuracy(people, table)
    value = GroupedValue(best.accuracy, best.per_group, best.n_groups)
    statistics["calibrated"] = {
        **_group_line(value, seed),
        "epsilon": best.epsilon,
        "without": _or_none(best.accuracy_without),
    }
    return statistics


def _group_line(value: GroupedValue, seed: int) -> dict[str, Any]:
    return _if_defined(lambda: grouped_interval(value, seed=seed))


def _if_defined(make: Callable[[], Interval]) -> dict[str, Any]:
    try:
        return make().flat("value")
    except ValueError:
        return {"value": None, "low": None, "high": None}


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
