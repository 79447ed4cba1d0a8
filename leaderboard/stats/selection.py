"""What is left of the best of several results once its selection is allowed for."""

from __future__ import annotations

from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.intervals import check_confidence


def widening(n: int, *, confidence: float = 0.95) -> float:
    """Give the factor by which an interval grows if it was picked among n.

    Among several noisy results, the best one was probably lucky. An interval of each at
    the level ``confidence ** (1 / n)`` covers all n true values at once with at least
    that confidence, so that it covers the one that was picked, however it was picked and
    even if its number alone is known of the others.

    Parameters
    ----------
    n : int
        How many results one was picked from, itself among them; 1: none was picked.
    confidence : float

    Returns
    -------
    float
        1 for n = 1; it grows with sqrt(log n), to 1.57 for 20 results.

    Raises
    ------
    ValueError
        Where there is nothing to pick from, or no confidence.

    Notes
    -----
    For errors that are jointly normal, whatever their correlation: teams test variants of
    one system on the same instances. With independent errors of equal variance and equal
    true values it is exact as a simultaneous interval; where one result is far better
    than the others nothing would have to be corrected, and it is too wide.

    References
    ----------
    Šidák (1967), Rectangular Confidence Regions for the Means of Multivariate Normal
    Distributions, Journal of the American Statistical Association 62(318), corollary 1;
    Andrews, Kitagawa and McCloskey (2024), Inference on Winners, Quarterly Journal of
    Economics 139(1), section 3 (projection intervals).

    Examples
    --------
    >>> [round(1.959964 * widening(n), 3) for n in (1, 2, 5, 20)]
    [1.96, 2.236, 2.569, 3.016]
    """
    if n < 1:
        raise ValueError("The best of nothing has no interval.")
    level = check_confidence(confidence) ** (1 / n)
    return normal_quantile(level) / normal_quantile(confidence)
