"""System level: whether a metric orders the systems as people do."""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.correlation import pearson_rows, spearman_rows
from leaderboard.metric_board.stats.pairs import agreement, pair_counts
from leaderboard.stats.intervals import Floats

SystemStatistic = Literal["pearson", "spearman", "kendall", "pairwise-accuracy"]
SYSTEM_STATISTICS: tuple[SystemStatistic, ...] = get_args(SystemStatistic)


def system_rows(
    human: npt.ArrayLike, metric: npt.ArrayLike, statistic: SystemStatistic
) -> Floats:
    """Compute a system-level statistic for many rows of scores at once.

    Parameters
    ----------
    human, metric : array_like, shapes (..., s) that broadcast
        A score per system; higher is better. NaN if people scored no output of it.
    statistic : str
        ``pearson``, ``spearman``, ``kendall`` (tau-b) or ``pairwise-accuracy``: the
        share of pairs of systems on whose order, ties included, both agree.

    Returns
    -------
    ndarray, shape (...)
        NaN if undefined.

    References
    ----------
    Kocmi et al. (2021), To Ship or Not to Ship, WMT, equation 1 (pairwise accuracy);
    the definitions are those of mt-metrics-eval.
    """
    if statistic == "pearson":
        return pearson_rows(human, metric)
    if statistic == "spearman":
        return spearman_rows(human, metric)
    h, m = np.broadcast_arrays(
        np.asarray(human, np.float64), np.asarray(metric, np.float64)
    )
    counts = pair_counts(h.reshape(-1, h.shape[-1]), m.reshape(-1, m.shape[-1]))
    values = agreement(counts, "tau-b" if statistic == "kendall" else "acc-eq")
    return values.reshape(h.shape[:-1])
