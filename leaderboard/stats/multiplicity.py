"""p-values and intervals corrected for the number of comparisons or results."""

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.intervals import Floats


def holm(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values to control the probability of any false claim.

    Parameters
    ----------
    p_values : array_like, any shape
        In [0, 1]. Each comparison once: pass the upper triangle of a matrix of pairs.

    Returns
    -------
    ndarray, same shape
        Adjusted p-values in [0, 1]; claiming those <= alpha makes the probability of
        one or more false claims at most alpha, however the tests depend on each other.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, section 3.
    """
    p, order = _check_p_values(p_values)
    factors = np.arange(p.size, 0, -1)
    # accumulated, so that adjusted p-values keep the order
    adjusted = np.minimum(1.0, np.maximum.accumulate(p.ravel()[order] * factors))
    return _put_back(adjusted, order, p.shape)


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values to control the expected share of false claims.

    Parameters
    ----------
    p_values : array_like, any shape
        In [0, 1].

    Returns
    -------
    ndarray, same shape
        Adjusted p-values; claiming those <= q keeps the expected share of false claims
        at most q for independent or positively dependent tests. Comparisons of all
        pairs are not positively dependent throughout; `holm` is the safe choice.

    References
    ----------
    Benjamini and Hochberg (1995), JRSS B 57, section 3.1; Benjamini and Yekutieli
    (2001), Annals of Statistics 29, theorem 1.2, for the dependence.
    """
    p, order = _check_p_values(p_values)
    factors = p.size / np.arange(1, p.size + 1)
    stepped = np.minimum.accumulate((p.ravel()[order] * factors)[::-1])[::-1]
    return _put_back(np.minimum(1.0, stepped), order, p.shape)


def _check_p_values(p_values: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.intp]]:
    p = np.asarray(p_values, dtype=np.float64)
    if np.isnan(p).any() or (p < 0).any() or (p > 1).any():
        raise ValueError("Every p-value must lie between 0 and 1.")
    return p, np.argsort(p, axis=None, kind="stable")


def _put_back(
    values: Floats, order: npt.NDArray[np.intp], shape: tuple[int, ...]
) -> Floats:
    result = np.empty(values.size)
    result[order] = values
    return result.reshape(shape)


def widening_factor(n: int) -> float:
    """Return the factor by which an interval grows if it was picked among n.

    Among several noisy results, the best one was probably lucky. An interval of each at
    the level ``.95 ** (1 / n)`` covers all n true values at once with at least 95%
    confidence, so that it covers the one that was picked, for any way of picking
    and even if only the number of the others is known.

    Parameters
    ----------
    n : int
        Number of results to pick from, including the picked one; 1: no choice.

    Returns
    -------
    float
        1 for n = 1; it grows with sqrt(log n), to 1.54 for 20 results.

    Notes
    -----
    For errors that are jointly normal, whatever their correlation: teams test variants of
    one system on the same instances. With independent errors of equal variance and equal
    true values it is exact as a simultaneous interval; if one result is far better
    than the others no correction is needed, and it is too wide.

    References
    ----------
    Šidák (1967), Rectangular Confidence Regions for the Means of Multivariate Normal
    Distributions, Journal of the American Statistical Association 62(318), corollary 1;
    Andrews, Kitagawa and McCloskey (2024), Inference on Winners, Quarterly Journal of
    Economics 139(1), section 3 (projection intervals).
    """
    return normal_quantile(0.95 ** (1 / n)) / normal_quantile(0.95)


# Clusters of systems from many comparisons.
def significance_clusters(estimates: npt.ArrayLike, better: npt.ArrayLike) -> list[int]:
    """Cut the ranking between systems if all above the cut beat all below it.

    Parameters
    ----------
    estimates : array_like, shape (s,)
        Higher is better, no NaN.
    better : array_like of bool, shape (s, s)
        Entry i, j: system i is significantly better than system j.

    Returns
    -------
    list of int
        Cluster of each system in the order given, 1 being the best. Systems of one
        cluster do not all differ; two of them may.

    References
    ----------
    Bojar et al. (2016), Findings of WMT16, section 3.4 (clusters); Novikova, Dušek and
    Rieser (2018), RankME, table 4.

    Examples
    --------
    >>> beats = [[False, False, True], [False, False, True], [False, False, False]]
    >>> significance_clusters([0.8, 0.7, 0.1], beats)
    [1, 1, 2]
    """
    scores = np.asarray(estimates, dtype=np.float64)
    wins = np.asarray(better, dtype=bool)
    if np.isnan(scores).any():
        raise ValueError("An estimate is NaN; cluster only systems with a score.")
    order = np.argsort(-scores, kind="stable")
    wins = wins[np.ix_(order, order)]
    clusters = np.empty(len(scores), dtype=int)
    current = 1
    for position, system in enumerate(order):
        # all pairs across the cut, as in WMT: one unsure pair keeps a cluster
        # together
        if position and wins[:position, position:].all():
            current += 1
        clusters[system] = current
    return [int(c) for c in clusters]
