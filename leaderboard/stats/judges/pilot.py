"""A pilot without people: what a judge's scores say of a draft's instances and criteria.

Nothing here says how good a system is. It says where to look before money is spent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# more of the variation than this is the judge's own: the criterion means little to it
_UNCLEAR = 0.5
_MOST = 5


@dataclass(frozen=True)
class Pilot:
    """What stands out on one criterion.

    Parameters
    ----------
    n_systems, n_instances : int
        Scored at all.
    lowest : list of int
        Instances on which every system got the lowest score of all: broken, or beyond
        them all. None where all scores are the same.
    silent : list of int
        Others on which all systems got the same score: they tell none apart.
    telling : list of int
        Up to five on which systems differ most as they do on the others, best first.
    repeats : float
        Share of the variation within instances that is between repeats of the same
        question, 0 to 1; NaN without repeats.
    """

    n_systems: int
    n_instances: int
    lowest: list[int]
    silent: list[int]
    telling: list[int]
    repeats: float

    @property
    def unclear(self) -> bool:
        """Whether the judge answers the same question otherwise again and again."""
        return self.repeats > _UNCLEAR


def draft_pilot(scores: npt.ArrayLike) -> Pilot:
    """Look for broken, silent and telling instances, and for an unclear criterion.

    Parameters
    ----------
    scores : array_like, shape (s, m, k)
        Of s systems' outputs for m instances, k times each; NaN where there is none.

    Returns
    -------
    Pilot
        Of fewer than two systems nothing is said of instances.

    Raises
    ------
    ValueError
        On another shape.

    Notes
    -----
    How telling an instance is is the covariance over systems of its scores with their
    means on all other instances, as item-total correlations are corrected.

    References
    ----------
    Lord and Novick (1968), Statistical Theories of Mental Test Scores, section 15.3.

    Examples
    --------
    >>> found = draft_pilot([[[1.0], [5.0], [3.0]], [[1.0], [2.0], [3.0]]])
    >>> found.lowest, found.silent
    ([0], [2])
    """
    told = np.asarray(scores, dtype=np.float64)
    if told.ndim != 3:
        raise ValueError("Scores are by system, instance and repeat.")
    known = np.isfinite(told)
    counts = known.sum(axis=2)
    sums = np.where(known, told, 0.0).sum(axis=2)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    # only where all systems are seen can they be compared
    seen = (counts > 0).all(axis=0) & (len(told) > 1)
    whole = np.flatnonzero(seen)
    table = means[:, whole]
    floor = told[known].min() if known.any() else 0.0
    same = np.ptp(table, axis=0) == 0 if table.size else np.zeros(0, dtype=np.bool_)
    varies = known.any() and told[known].max() > floor
    at_floor = same & (table[0] == floor) & varies if table.size else same
    return Pilot(
        int((counts > 0).any(axis=1).sum()),
        int((counts > 0).any(axis=0).sum()),
        [int(whole[i]) for i in np.flatnonzero(at_floor)],
        [int(whole[i]) for i in np.flatnonzero(same & ~at_floor)],
        [int(whole[i]) for i in _telling(table)],
        _repeats(told, means, counts),
    )


def correlation(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Correlate the ranks of outputs by two criteria, or by two judges.

    Parameters
    ----------
    first, second : array_like
        Scores of the same outputs, of the same shape; NaN where there is none.

    Returns
    -------
    float
        -1 to 1; NaN with fewer than three outputs that both score, or where one of
        them scores all alike.

    References
    ----------
    Spearman (1904), The Proof and Measurement of Association between Two Things.

    Examples
    --------
    >>> correlation([1, 2, 3, 4], [2, 4, 6, 9])
    1.0
    """
    from scipy.stats import rankdata

    one, other = np.ravel(np.asarray(first, float)), np.ravel(np.asarray(second, float))
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < 3 or not np.ptp(one[both]) or not np.ptp(other[both]):
        return float("nan")
    ranks = np.corrcoef(rankdata(one[both]), rankdata(other[both]))
    return float(np.clip(ranks[0, 1], -1, 1).round(12))


def furthest_apart(first: npt.ArrayLike, second: npt.ArrayLike) -> list[int]:
    """Name the instances on which two judges differ most.

    Parameters
    ----------
    first, second : array_like, shape (s, m)
        Scores of s systems on m instances; NaN where there is none. Each judge's are
        turned into ranks first, as their scales may differ.

    Returns
    -------
    list of int
        Up to five instances, furthest apart first.

    Examples
    --------
    >>> furthest_apart([[1, 2, 3], [4, 5, 6]], [[1, 2, 6], [4, 5, 3]])
    [2]
    """
    from scipy.stats import rankdata

    tables = [np.asarray(table, float) for table in (first, second)]
    both = np.isfinite(tables[0]) & np.isfinite(tables[1])
    if not both.any():
        return []
    one, other = (rankdata(table[both]) for table in tables)
    apart = np.zeros(both.shape)
    apart[both] = np.abs(one - other)
    found = apart.sum(axis=0) / np.maximum(both.sum(axis=0), 1)
    order = np.argsort(-found, kind="stable")
    return [int(i) for i in order[:_MOST] if found[i] > 0]


def order_decides(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Tell how often the place of an output decides which of two is preferred.

    Parameters
    ----------
    first, second : array_like
        How far the first slot is preferred, 0 to 1, of the same pairs: once in one order,
        once in the other. NaN where there is no answer.

    Returns
    -------
    float
        Share of pairs, 0 to 1, in which the same slot won twice; NaN without pairs that
        were answered in both orders.

    Examples
    --------
    >>> order_decides([1.0, 0.0], [1.0, 1.0])
    0.5
    """
    turned = (np.asarray(first, float) - 0.5) * (np.asarray(second, float) - 0.5)
    known = turned[np.isfinite(turned)]
    return float((known > 0).mean()) if known.size else float("nan")


def _telling(table: npt.NDArray[np.float64]) -> list[int]:
    m = table.shape[1]
    if m < 2:
        return []
    others = (table.sum(axis=1, keepdims=True) - table) / (m - 1)
    apart = (table - table.mean(axis=0)) * (others - others.mean(axis=0))
    found = apart.sum(axis=0)
    order = np.argsort(-found, kind="stable")
    return [int(i) for i in order[:_MOST] if found[i] > 1e-12]


def _repeats(
    told: npt.NDArray[np.float64],
    means: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
) -> float:
    """Compare the variance of repeats with that of outputs of the same instance."""
    freedom = int(np.maximum(counts - 1, 0).sum())
    if freedom == 0:
        return float("nan")
    within = float(np.nansum((told - means[:, :, None]) ** 2)) / freedom
    seen = np.isfinite(told)
    per_instance = np.maximum(seen.sum(axis=(0, 2)), 1)
    level = np.where(seen, told, 0.0).sum(axis=(0, 2)) / per_instance
    left = int(seen.sum() - seen.any(axis=(0, 2)).sum())
    total = float(np.nansum((told - level[None, :, None]) ** 2)) / max(left, 1)
    return min(within / total, 1.0) if total > 0 else 0.0
