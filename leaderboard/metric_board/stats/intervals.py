"""Bootstrap and jackknife intervals of a metric's statistics."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.metric_board.stats.correlation import pearson_rows, spearman_rows
from leaderboard.metric_board.stats.pairs import GroupedValue, PairCounts, agreement
from leaderboard.metric_board.stats.soft_accuracy import (
    certainty_gaps,
    complete_instances,
    mean_agreement,
)
from leaderboard.metric_board.stats.system_level import SystemStatistic, system_rows
from leaderboard.stats.intervals import Floats, bootstrap_mean

N_BLOCKS = 20
_CHUNK_PAIRS = 2_000_000


@dataclass(frozen=True)
class _Tables:
    human: Floats
    metric: Floats
    shift: Floats

    def means(self, counts: Floats) -> tuple[Floats, Floats]:
        """Average over resampled instances, counts of shape (r, n)."""
        return (
            _weighted_means(self.human, counts),
            _weighted_means(self.metric, counts) + self.shift,
        )


def system_interval(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    statistic: SystemStatistic,
    *,
    metric_system: npt.ArrayLike | None = None,
    seed: int,
    n_resamples: int = 1_000,
) -> Interval:
    """Compute a system-level statistic with its bootstrap interval.

    Parameters
    ----------
    human, metric : array_like, shape (s, n)
        Scores of s systems on n instances, higher being better. NaN if people gave none;
        the metric's must be finite.
    statistic : str
        See `leaderboard.metric_board.stats.system_level.system_rows`.
    metric_system : array_like, shape (s,), optional
        The metric's overall values if they are not means (BLEU). A resample moves
        them by as much as it moves the mean of the instances' values.

    Returns
    -------
    Interval
        Percentile interval over instances and systems, resampled independently; resamples in which the statistic is undefined are left
        out, and with fewer than three systems it is infinitely wide. With few systems
        it is wide, and should be.

    Notes
    -----
    A system drawn twice does not form a pair with itself: Kendall's tau and pairwise
    accuracy weigh each pair by how often both of its systems were drawn.

    References
    ----------
    Deutsch, Dror and Roth (2021), A Statistical Analysis of Summarization Evaluation
    Metrics Using Resampling Methods, TACL 9, section 4 (BOOT-BOTH).
    """
    tables = _tables(human, metric, metric_system)
    n_systems, n = tables.human.shape
    h, m = tables.means(np.ones((1, n)))
    estimate = float(system_rows(h[0], m[0], statistic))
    rng = np.random.default_rng(seed)
    h, m = tables.means(_counts(rng, n_resamples, n))
    chosen = rng.integers(0, n_systems, size=(n_resamples, n_systems))
    values = _redrawn(h, m, chosen, statistic)
    values = values[~np.isnan(values)]
    low, high = -np.inf, np.inf
    # two systems have one pair: resamples cannot show how other pairs vary
    if n_systems >= 3 and values.size:
        low, high = (float(end) for end in np.quantile(values, [0.025, 0.975]))
    return Interval(estimate, low, high)


def _tables(
    human: npt.ArrayLike, metric: npt.ArrayLike, overall: npt.ArrayLike | None
) -> _Tables:
    h = np.asarray(human, dtype=np.float64)
    m = np.asarray(metric, dtype=np.float64)
    shift = np.zeros(len(m))
    if overall is not None:
        overall_values = np.asarray(overall, dtype=np.float64)
        # a corpus metric is not a mean: its resamples are those of the mean, shifted by the
        # difference
        shift = overall_values - m.mean(axis=1)
    return _Tables(h, m, shift)


def _counts(rng: np.random.Generator, n_resamples: int, n: int) -> Floats:
    chosen = rng.integers(0, n, size=(n_resamples, n))
    chosen += np.arange(n_resamples)[:, None] * n
    counts = np.bincount(chosen.ravel(), minlength=n_resamples * n)
    return counts.reshape(n_resamples, n).astype(np.float64)


def _weighted_means(table: Floats, counts: Floats) -> Floats:
    rated = ~np.isnan(table)
    sums = counts @ np.where(rated, table, 0.0).T
    weights = counts @ rated.T.astype(np.float64)
    return np.asarray(
        np.divide(sums, weights, out=np.full(sums.shape, np.nan), where=weights > 0)
    )


def _redrawn(
    h: Floats, m: Floats, chosen: npt.NDArray[np.int64], statistic: SystemStatistic
) -> Floats:
    if statistic in ("pearson", "spearman"):
        rows = pearson_rows if statistic == "pearson" else spearman_rows
        return rows(
            np.take_along_axis(h, chosen, axis=1), np.take_along_axis(m, chosen, axis=1)
        )
    n_resamples, n_systems = chosen.shape
    flat = chosen + np.arange(n_resamples)[:, None] * n_systems
    weights = np.bincount(flat.ravel(), minlength=flat.size).reshape(chosen.shape)
    first, second = np.triu_indices(n_systems, k=1)
    values = np.full(n_resamples, np.nan)
    rows_at_once = max(1, _CHUNK_PAIRS // max(len(first), 1))
    for start in range(0, n_resamples, rows_at_once):
        part = slice(start, start + rows_at_once)
        counts = _weighted_pairs(
            h[part, first] - h[part, second],
            m[part, first] - m[part, second],
            weights[part, first] * weights[part, second],
        )
        values[part] = agreement(
            counts, "tau-b" if statistic == "kendall" else "acc-eq"
        )
    return values


def _weighted_pairs(
    gap_h: Floats, gap_m: Floats, weights: npt.NDArray[np.int64]
) -> PairCounts:
    # a system drawn twice doubles its pairs' weight; pairs with itself have no index here
    w = np.where(np.isnan(gap_h), 0, weights).astype(np.float64)
    level_h, level_m = gap_h == 0, gap_m == 0
    alike = np.sign(gap_h) == np.sign(gap_m)
    parts = (
        alike & ~level_h,
        ~alike & ~level_h & ~level_m,
        level_h & ~level_m,
        level_m & ~level_h,
        level_h & level_m,
    )
    con, dis, tied_h, tied_m, tied_both = (
        np.einsum("rp,rp->r", part.astype(np.float64), w) for part in parts
    )
    return PairCounts(con, dis, tied_h, tied_m, tied_both)


def grouped_interval(grouped: GroupedValue, *, seed: int) -> Interval:
    """Compute an instance-level statistic with its percentile bootstrap interval.

    Parameters
    ----------
    grouped : GroupedValue
        Grouped by instance, defined on at least one; otherwise ValueError.

    References
    ----------
    Deutsch, Dror and Roth (2021), TACL 9, section 4 (BOOT-INPUTS).
    """
    defined = grouped.per_group[~np.isnan(grouped.per_group)]
    if not defined.size:
        raise ValueError("The statistic is defined on no instance.")
    return bootstrap_mean(defined, seed=seed, n_resamples=1_000)


def soft_accuracy_interval(
    human: npt.ArrayLike, metric: npt.ArrayLike, *, seed: int
) -> Interval:
    """Compute a soft pairwise accuracy with its jackknife interval.

    Parameters
    ----------
    human : array_like, shape (s, n)
        Instances without a score (NaN) of every system are left out.
    metric : array_like, shape (s, n)
        Higher is better.
    seed : int
        Cuts the instances into blocks.

    Returns
    -------
    Interval
        Within [0, 1]; infinitely wide for fewer than three systems. p-values are the
        normal limit.

    Notes
    -----
    A bootstrap is unsuitable: a resample's p-values are closer to 0 and 1 than the
    sample's, for people and the metric independently. The jackknife leaves out one system,
    or one of up to 20 blocks of instances, at a time, which changes p-values little; the
    two variances add up, with Student's quantile for the smaller number of parts.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 11.5;
    Thompson et al. (2024) for the statistic.
    """
    from scipy import stats

    h, m = complete_instances(human, metric)
    n_systems, n = h.shape
    gaps = certainty_gaps(h, m)
    estimate = mean_agreement(gaps)
    low, high = -np.inf, np.inf
    if n_systems >= 3:
        n_blocks = min(N_BLOCKS, n)
        without_system = [
            mean_agreement(np.delete(np.delete(gaps, i, axis=0), i, axis=1))
            for i in range(n_systems)
        ]
        variance = _jackknife(without_system)
        if n_blocks >= 2:
            block = np.random.default_rng(seed).permutation(n) % n_blocks
            variance += _jackknife(
                [
                    mean_agreement(certainty_gaps(h[:, block != b], m[:, block != b]))
                    for b in range(n_blocks)
                ]
            )
        # the variance from fewer parts is less certain
        parts = min(n_systems, max(n_blocks, 2))
        reach = float(stats.t.ppf(0.975, parts - 1) * np.sqrt(variance))
        low, high = max(0.0, estimate - reach), min(1.0, estimate + reach)
    return Interval(estimate, low, high)


def _jackknife(values: list[float]) -> float:
    return float((len(values) - 1) * np.var(values))
