"""Counts of pairs of outputs that people and a metric order alike, unlike, or tie.

All of Kendall's variants, and pairwise accuracy, are computed from five counts of pairs.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.correlation import pearson_rows, spearman_rows
from leaderboard.stats.intervals import Floats

Variant = Literal["tau-a", "tau-b", "tau-10", "tau-13", "tau-14", "tau-eq", "acc-eq"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)

_CHUNK_PAIRS = 2_000_000
_LONG = 1_000


@dataclass(frozen=True)
class PairCounts:
    """How two rows of scores order their pairs, in each of g groups.

    Parameters
    ----------
    concordant, discordant : ndarray, shape (g,)
        Pairs that both order, alike or the other way round.
    tied_human, tied_metric, tied_both : ndarray, shape (g,)
        Pairs tied only by people, only by the metric, by both.
    """

    concordant: Floats
    discordant: Floats
    tied_human: Floats
    tied_metric: Floats
    tied_both: Floats

    @property
    def n_pairs(self) -> Floats:
        ordered = self.concordant + self.discordant
        return ordered + self.tied_human + self.tied_metric + self.tied_both


def as_groups(human: npt.ArrayLike, metric: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Check scores and return them with one row per group.

    Parameters
    ----------
    human : array_like, shape (g, k) or (k,)
        NaN if people gave no score.
    metric : array_like, same shape
        Higher is better; negate an error rate first.

    Returns
    -------
    human, metric : ndarray, shape (g, k)
        The metric's scores are NaN if people gave none.

    Raises
    ------
    ValueError
        If the metric has no score although people gave one.

    Examples
    --------
    >>> human, metric = as_groups([1, float("nan")], [5, 6])
    >>> metric.tolist()
    [[5.0, nan]]
    """
    h = np.array(human, dtype=np.float64, ndmin=2)
    m = np.array(metric, dtype=np.float64, ndmin=2)
    rated = ~np.isnan(h)
    if not np.isfinite(m[rated]).all():
        raise ValueError("The metric needs a finite score wherever people gave one.")
    m[~rated] = np.nan
    return h, m


def pair_counts(
    human: npt.ArrayLike, metric: npt.ArrayLike, *, epsilon: float = 0.0
) -> PairCounts:
    """Count pairs within each group.

    Parameters
    ----------
    human, metric : array_like, shape (g, k) or (k,)
        See `as_groups`; NaN values are in no pair.
    epsilon : float
        The metric ties two values that differ by no more than this; >= 0.

    References
    ----------
    Deutsch, Foster and Freitag (2023), Ties Matter, EMNLP, section 2.
    """
    h, m = as_groups(human, metric)
    # all pairs of a long row would not fit into memory; sorting takes n log n
    if h.shape[1] > _LONG:
        rows = [_long_row(a, b, epsilon) for a, b in zip(h, m, strict=True)]
        table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    else:
        table = _short_rows(h, m, epsilon)
    return PairCounts(*table.T)


def _short_rows(h: Floats, m: Floats, epsilon: float) -> Floats:
    first, second = np.triu_indices(h.shape[1], k=1)
    table = np.zeros((len(h), 5))
    if len(first) == 0:
        return table
    rows = max(1, _CHUNK_PAIRS // len(first))
    for start in range(0, len(h), rows):
        part = slice(start, start + rows)
        table[part] = _count(
            h[part, first] - h[part, second], m[part, first] - m[part, second], epsilon
        )
    return table


def _count(human: Floats, metric: Floats, epsilon: float) -> Floats:
    """Count along the last axis, from differences; a NaN difference is not a pair."""
    valid = ~np.isnan(human)
    level_h = human == 0
    level_m = valid & (np.abs(metric) <= epsilon)
    agree = valid & ~level_h & ~level_m & ((human > 0) == (metric > 0))
    counts = [
        np.count_nonzero(part, axis=-1)
        for part in (
            agree,
            valid,
            level_h & ~level_m,
            level_m & ~level_h,
            level_h & level_m,
        )
    ]
    counts[1] = counts[1] - counts[0] - counts[2] - counts[3] - counts[4]
    return np.stack(counts, axis=-1).astype(np.float64)


def _long_row(human: Floats, metric: Floats, epsilon: float) -> Floats:
    rated = ~np.isnan(human)
    h, m = human[rated], metric[rated]
    if epsilon > 0:
        total = np.zeros(5)
        block = max(1, _CHUNK_PAIRS // max(len(h), 1))
        for start in range(0, len(h), block):
            stop = min(start + block, len(h))
            # pairs within the block, then pairs of the block with everything after it
            total += _short_rows(h[None, start:stop], m[None, start:stop], epsilon)[0]
            gaps_h = np.subtract.outer(h[start:stop], h[stop:]).ravel()
            gaps_m = np.subtract.outer(m[start:stop], m[stop:]).ravel()
            total += _count(gaps_h, gaps_m, epsilon)
        return total
    return _by_sorting(h, m)


def _by_sorting(h: Floats, m: Floats) -> Floats:
    """Count without visiting pairs: ties by value, the rest from tau-b itself."""
    from scipy import stats

    n_pairs = len(h) * (len(h) - 1) // 2
    both = _tied_pairs(np.stack([h, m], axis=1))
    in_h, in_m = _tied_pairs(h[:, None]), _tied_pairs(m[:, None])
    ordered = n_pairs - in_h - in_m + both
    surplus = 0
    if in_h < n_pairs and in_m < n_pairs:
        tau = float(stats.kendalltau(h, m).statistic)
        # concordant minus discordant is an integer, so rounding is exact
        surplus = round(tau * np.sqrt(float(n_pairs - in_h)) * np.sqrt(n_pairs - in_m))
    concordant = (ordered + surplus) // 2
    return np.array(
        [concordant, ordered - concordant, in_h - both, in_m - both, both], np.float64
    )


def _tied_pairs(values: Floats) -> int:
    _, counts = np.unique(values, axis=0, return_counts=True)
    return int(np.sum(counts * (counts - 1) // 2))


def agreement(counts: PairCounts, variant: Variant) -> Floats:
    """Compute one of Kendall's variants, or pairwise accuracy, from counts of pairs.

    Parameters
    ----------
    variant : str
        With C, D the concordant and discordant pairs, Th, Tm and Tb those tied by
        people, by the metric and by both, and N all pairs:
        ``tau-a`` (C-D)/N; ``tau-b`` (C-D)/sqrt((C+D+Th)(C+D+Tm));
        ``tau-10`` (C-D-Tm)/(C+D+Tm); ``tau-13`` (C-D)/(C+D);
        ``tau-14`` (C-D)/(C+D+Tm); ``tau-eq`` (C+Tb-D-Th-Tm)/N;
        ``acc-eq`` (C+Tb)/N.

    Returns
    -------
    ndarray, shape (g,)
        In [-1, 1], acc-eq in [0, 1]; NaN if the denominator is 0.

    References
    ----------
    Kendall (1945), Biometrika 33; Deutsch, Foster and Freitag (2023), Ties Matter, EMNLP, table 2, for the others, named after
    the years in which WMT used them.
    """
    c, d = counts.concordant, counts.discordant
    th, tm, tb = counts.tied_human, counts.tied_metric, counts.tied_both
    n = counts.n_pairs
    surplus = c - d
    if variant == "tau-b":
        tau = _ratio(surplus, np.sqrt(c + d + th) * np.sqrt(c + d + tm))
        return np.asarray(np.clip(tau, -1.0, 1.0))
    parts: dict[str, tuple[Floats, Floats]] = {
        "tau-a": (surplus, n),
        "tau-10": (surplus - tm, c + d + tm),
        "tau-13": (surplus, c + d),
        "tau-14": (surplus, c + d + tm),
        "tau-eq": (c + tb - d - th - tm, n),
        "acc-eq": (c + tb, n),
    }
    return _ratio(*parts[variant])


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    defined = denominator > 0
    return np.asarray(
        np.divide(
            numerator,
            denominator,
            out=np.full(np.shape(numerator), np.nan),
            where=defined,
        )
    )


# Instance level: whether a metric orders single outputs as people do.
InstanceStatistic = Literal["pearson", "spearman"] | Variant


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


def grouped_rows(human: npt.ArrayLike, metric: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Arrange tables of scores so that each row has the scores of one instance.

    Parameters
    ----------
    human, metric : array_like, shape (s, n)
        Scores of s systems on n instances; NaN if people gave none.

    Returns
    -------
    human, metric : ndarray, shape (n, s)

    Examples
    --------
    >>> grouped_rows([[1, 2, 3], [4, 5, 6]], [[0, 0, 0], [1, 1, 1]])[0]
    array([[1., 4.],
           [2., 5.],
           [3., 6.]])
    """
    h, m = as_groups(human, metric)
    # copied for speed: rows are read one by one and should be contiguous in memory
    return h.T.copy(), m.T.copy()


def instance_statistic(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    statistic: InstanceStatistic,
) -> GroupedValue:
    """Compute an instance-level statistic of one metric.

    Parameters
    ----------
    human, metric : array_like, shape (s, n)
        Scores of s systems on n instances; NaN if people gave none. Higher is better.
    statistic : str
        ``pearson``, ``spearman`` or one of `leaderboard.metric_board.stats.pairs.VARIANTS`.

    Returns
    -------
    GroupedValue
        The mean over instances with at least two human scores and a defined statistic.

    References
    ----------
    Deutsch, Foster and Freitag (2023), Ties Matter, EMNLP, sections 2 and 3; averaging
    as in mt-metrics-eval.
    """
    h, m = grouped_rows(human, metric)
    if statistic == "pearson":
        per_group = pearson_rows(h, m)
    elif statistic == "spearman":
        per_group = spearman_rows(h, m)
    else:
        per_group = agreement(pair_counts(h, m), statistic)
    return average_groups(per_group)


def average_groups(per_group: Floats) -> GroupedValue:
    """Average a statistic of shape (g,) over the groups in which it is not NaN."""
    defined = per_group[~np.isnan(per_group)]
    value = float(defined.mean()) if defined.size else float("nan")
    return GroupedValue(value, per_group, int(defined.size))
