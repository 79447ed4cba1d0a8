"""Instance level: whether a metric orders single outputs as people do."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.correlation import pearson_rows, spearman_rows
from leaderboard.metric_board.stats.pairs import (
    VARIANTS,
    Variant,
    agreement,
    as_groups,
    pair_counts,
)
from leaderboard.stats.resampling import Floats

Grouping = Literal["instance", "system", "none"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
InstanceStatistic = Literal["pearson", "spearman"] | Variant
INSTANCE_STATISTICS: tuple[str, ...] = ("pearson", "spearman", *VARIANTS)


@dataclass(frozen=True)
class GroupedValue:
    """A statistic averaged over groups.

    Parameters
    ----------
    value : float
        Plain mean over the groups in which it is defined; NaN without any.
    per_group : ndarray, shape (g,)
        NaN if undefined.
    n_groups : int
        Groups in the mean.
    """

    value: float
    per_group: Floats
    n_groups: int


def grouped_rows(
    human: npt.ArrayLike, metric: npt.ArrayLike, group: Grouping
) -> tuple[Floats, Floats]:
    """Arrange tables of scores so that each row contains the scores to compare.

    Parameters
    ----------
    human, metric : array_like, shape (s, n)
        Scores of s systems on n instances; NaN if people gave none.
    group : {"instance", "system", "none"}
        Compare systems on one instance, instances of one system, or everything with
        everything.

    Returns
    -------
    human, metric : ndarray, shape (g, k)

    Examples
    --------
    >>> grouped_rows([[1, 2, 3], [4, 5, 6]], [[0, 0, 0], [1, 1, 1]], "instance")[0]
    array([[1., 4.],
           [2., 5.],
           [3., 6.]])
    """
    if np.ndim(human) != 2:
        raise ValueError("Instance level needs tables: systems down, instances across.")
    h, m = as_groups(human, metric)
    if group == "instance":
        # copied for speed: rows are read one by one and should be contiguous in memory
        return h.T.copy(), m.T.copy()
    if group == "system":
        return h, m
    if group == "none":
        return h.reshape(1, -1), m.reshape(1, -1)
    raise ValueError(f"There is no {group!r}; it is one of {', '.join(GROUPINGS)}.")


def instance_statistic(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    statistic: InstanceStatistic,
    *,
    group: Grouping = "instance",
    epsilon: float = 0.0,
) -> GroupedValue:
    """Compute an instance-level statistic of one metric.

    Parameters
    ----------
    human, metric : array_like, shape (s, n)
        Scores of s systems on n instances; NaN if people gave none. Higher is better.
    statistic : str
        ``pearson``, ``spearman`` or one of `leaderboard.metric_board.stats.pairs.VARIANTS`.
    group : {"instance", "system", "none"}
        See `grouped_rows`.
    epsilon : float
        The metric ties what differs by no more; for the variants of Kendall's tau
        other than tau-c, which counts classes of equal scores.

    Returns
    -------
    GroupedValue
        The mean over groups with at least two human scores and a defined statistic.

    References
    ----------
    Deutsch, Foster and Freitag (2023), Ties Matter, EMNLP, sections 2 and 3; averaging
    as in mt-metrics-eval.

    Examples
    --------
    >>> people = [[3, 1, 2], [2, 2, 2], [1, 3, 1]]
    >>> metric = [[0.9, 0.2, 0.7], [0.5, 0.1, 0.7], [0.4, 0.3, 0.1]]
    >>> grouped = instance_statistic(people, metric, "acc-eq")
    >>> round(grouped.value, 4), grouped.per_group.round(4).tolist()
    (0.8889, [1.0, 0.6667, 1.0])
    """
    h, m = grouped_rows(human, metric, group)
    if epsilon and (statistic not in VARIANTS or statistic == "tau-c"):
        raise ValueError(f"{statistic} knows no epsilon.")
    if statistic == "pearson":
        per_group = pearson_rows(h, m)
    elif statistic == "spearman":
        per_group = spearman_rows(h, m)
    elif statistic in VARIANTS:
        per_group = agreement(pair_counts(h, m, epsilon=epsilon), statistic)
    else:
        raise ValueError(
            f"There is no {statistic!r}; it is one of {', '.join(INSTANCE_STATISTICS)}."
        )
    return averaged(per_group)


def averaged(per_group: Floats) -> GroupedValue:
    """Average a statistic of shape (g,) over the groups in which it is not NaN.

    Examples
    --------
    >>> averaged(np.array([0.5, np.nan, 1.0])).value
    0.75
    """
    defined = per_group[~np.isnan(per_group)]
    value = float(defined.mean()) if defined.size else float("nan")
    return GroupedValue(value, per_group, int(defined.size))
