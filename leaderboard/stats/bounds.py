"""Bounds on the variation of ratings that need no data.

A rating on a bounded scale cannot vary more than Bhatia and Davis allow, so the
standard error of a mean has an upper limit that depends only on the scale.
"""

import math


def normal_quantile(confidence: float) -> float:
    """Return z such that a normal variable lies within z with this probability.

    Examples
    --------
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    from scipy import special

    return float(special.ndtri((1 + confidence) / 2))


def largest_sd(
    mean: float | None = None, *, low: float = 0.0, high: float = 1.0
) -> float:
    """Return the largest standard deviation that ratings on a scale can have.

    Parameters
    ----------
    mean : float, optional
        Their mean, low <= mean <= high; without it, the worst mean (the middle).
    low, high : float
        Ends of the scale, low < high, in the unit of the ratings.

    Returns
    -------
    float
        sqrt((high - mean) (mean - low)), at most (high - low) / 2.

    References
    ----------
    Bhatia and Davis (2000), A Better Bound on the Variance, American Mathematical
    Monthly 107(4), theorem 1; Khashabi et al. (2022), GENIE, appendix C.
    """
    if mean is None:
        return (high - low) / 2
    return math.sqrt((high - mean) * (mean - low))
