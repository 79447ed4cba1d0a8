"""System level: whether a metric orders the systems as people do."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from leaderboard.stats.meta_correlation import pearson_rows, spearman_rows
from leaderboard.stats.meta_pairs import agreement, as_groups, pair_counts
from leaderboard.stats.resampling import Floats

SystemStatistic = Literal["pearson", "spearman", "kendall", "pairwise-accuracy"]
SYSTEM_STATISTICS: tuple[SystemStatistic, ...] = get_args(SystemStatistic)


def system_rows(
    human: npt.ArrayLike, metric: npt.ArrayLike, statistic: SystemStatistic
) -> Floats:
    """Compute a system-level statistic for many rows of scores at once.

    Parameters
    ----------
    human, metric : array_like, shapes (..., s) that broadcast
        A score per system; higher is better. NaN where people scored no output of it.
    statistic : str
        ``pearson``, ``spearman``, ``kendall`` (tau-b) or ``pairwise-accuracy``: the
        share of pairs of systems on whose order, ties included, both agree.

    Returns
    -------
    ndarray, shape (...)
        NaN where it is undefined.

    Raises
    ------
    ValueError
        On an unknown statistic, or shapes that do not fit.

    References
    ----------
    Kocmi et al. (2021), To Ship or Not to Ship, WMT, equation 1 (pairwise accuracy);
    the definitions are those of mt-metrics-eval.

    Examples
    --------
    >>> system_rows([1, 2, 3], [[5, 6, 7], [7, 6, 8]], "pairwise-accuracy").round(3)
    array([1.   , 0.667])
    """
    if statistic == "pearson":
        return pearson_rows(human, metric)
    if statistic == "spearman":
        return spearman_rows(human, metric)
    if statistic not in ("kendall", "pairwise-accuracy"):
        raise ValueError(
            f"There is no {statistic!r}; it is one of {', '.join(SYSTEM_STATISTICS)}."
        )
    h, m = np.broadcast_arrays(
        np.asarray(human, np.float64), np.asarray(metric, np.float64)
    )
    counts = pair_counts(h.reshape(-1, h.shape[-1]), m.reshape(-1, m.shape[-1]))
    values = agreement(counts, "tau-b" if statistic == "kendall" else "acc-eq")
    return values.reshape(h.shape[:-1])


def system_statistics(
    human: npt.ArrayLike, metric: npt.ArrayLike
) -> dict[SystemStatistic, float]:
    """Compute all system-level statistics of one metric.

    Parameters
    ----------
    human : array_like, shape (s,)
        People's score of each system; NaN leaves a system out.
    metric : array_like, shape (s,)
        The metric's score of each system, higher being better: negate error rates.

    Returns
    -------
    dict
        Statistic to value; NaN where undefined (fewer than two systems, no variation).

    Raises
    ------
    ValueError
        When the two are not one list each, of one length; when a score is infinite.

    References
    ----------
    See `system_rows`.

    Examples
    --------
    >>> statistics = system_statistics([70.1, 72.4, 74.0, 71.0], [30, 33, 32, 31])
    >>> {name: round(value, 4) for name, value in statistics.items()}
    {'pearson': 0.7502, 'spearman': 0.8, 'kendall': 0.6667, 'pairwise-accuracy': 0.8333}
    """
    if np.ndim(human) != 1:
        raise ValueError("System level needs one score per system and side.")
    h, m = as_groups(human, metric)
    return {
        statistic: float(system_rows(h[0], m[0], statistic))
        for statistic in SYSTEM_STATISTICS
    }
