"""What can be said before, or without, looking at how ratings vary.

A rating on a bounded scale cannot vary more than Bhatia and Davis allow, so the
standard error of a mean has a ceiling that needs nothing but the scale.
"""

from __future__ import annotations

import math

from scipy import special

from leaderboard.stats.intervals import COVERS_INSTANCES, Interval, check_confidence


def normal_quantile(confidence: float) -> float:
    """Give z such that a normal variable lies within z with this probability.

    Examples
    --------
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    return float(special.ndtri((1 + check_confidence(confidence)) / 2))


def largest_sd(
    mean: float | None = None, *, low: float = 0.0, high: float = 1.0
) -> float:
    """Give the largest standard deviation that ratings on a scale can have.

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

    Raises
    ------
    ValueError
        When the scale is empty or the mean lies outside it.

    References
    ----------
    Bhatia and Davis (2000), A Better Bound on the Variance, American Mathematical
    Monthly 107(4), theorem 1; Khashabi et al. (2022), GENIE, appendix C.

    Examples
    --------
    >>> largest_sd(), round(largest_sd(0.8), 12)
    (0.5, 0.4)
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"The scale must go from low to high, not {low} to {high}.")
    if mean is None:
        return (high - low) / 2
    if not low <= mean <= high:
        raise ValueError(f"A mean of {mean} does not fit the scale {low} to {high}.")
    return math.sqrt((high - mean) * (mean - low))


def largest_standard_error(
    n: int, mean: float | None = None, *, low: float = 0.0, high: float = 1.0
) -> float:
    """Give the largest standard error that a mean of n independent ratings can have.

    Parameters
    ----------
    n : int
        Number of independent ratings, at least 1.
    mean, low, high
        As in `largest_sd`.

    Returns
    -------
    float
        `largest_sd` / sqrt(n): one standard error; the half-width of a 95 % interval
        is 1.96 times as large.

    References
    ----------
    Khashabi et al. (2022), GENIE, appendix C, last equation.

    Examples
    --------
    >>> round(100 * largest_standard_error(800), 4), round(100 * largest_standard_error(300), 4)
    (1.7678, 2.8868)
    """
    _check_n(n)
    return largest_sd(mean, low=low, high=high) / math.sqrt(n)


def worst_case_interval(
    mean: float,
    n: int,
    *,
    confidence: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> Interval:
    """Give the interval that no way of rating with this mean could make wider.

    Parameters
    ----------
    mean : float
        Observed mean, on the scale.
    n : int
        Number of independent ratings, at least 1.
    confidence : float
        Nominal coverage, strictly between 0 and 1.
    low, high : float
        Ends of the scale; the interval is cut there.

    Returns
    -------
    Interval
        mean +- z `largest_standard_error`. For a mean at an end of the scale it has
        no width: use `wilson` there.

    References
    ----------
    Khashabi et al. (2022), GENIE, appendix C.

    Examples
    --------
    >>> interval = worst_case_interval(0.8, 800)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.7723, 0.8277)
    """
    reach = normal_quantile(confidence) * largest_standard_error(
        n, mean, low=low, high=high
    )
    return Interval(
        mean,
        max(low, mean - reach),
        min(high, mean + reach),
        confidence,
        "Bhatia-Davis bound",
        COVERS_INSTANCES,
        n,
    )


def wilson(successes: float, n: int, *, confidence: float = 0.95) -> Interval:
    """Give Wilson's score interval of a share.

    Parameters
    ----------
    successes : float
        Number of successes, 0 <= successes <= n. A sum of ratings on [0, 1] may be
        given too: the interval is then too wide rather than too narrow, because such
        ratings vary no more than successes and failures with the same mean.
    n : int
        Number of independent trials, at least 1.
    confidence : float
        Nominal coverage, strictly between 0 and 1.

    Returns
    -------
    Interval
        Inside [0, 1], with some width even at 0 or n successes.

    Raises
    ------
    ValueError
        On counts that are none.

    References
    ----------
    Wilson (1927), JASA 22, equation 1; Brown, Cai and DasGupta (2001), Interval
    Estimation for a Binomial Proportion, Statistical Science 16, section 3.1.1.

    Examples
    --------
    >>> interval = wilson(10, 10)
    >>> round(interval.low, 4), interval.high
    (0.7225, 1.0)
    """
    _check_n(n)
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} is impossible.")
    share = successes / n
    square = normal_quantile(confidence) ** 2
    middle = (share + square / (2 * n)) / (1 + square / n)
    reach = math.sqrt(square * (share * (1 - share) / n + square / (4 * n * n)))
    reach /= 1 + square / n
    # exactly the end of the scale: rounding would leave 1e-17
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == n else min(1.0, middle + reach)
    return Interval(share, low, high, confidence, "wilson", COVERS_INSTANCES, n)


def implied_sd(half_width: float, n: int, *, confidence: float = 0.95) -> float:
    """Give the standard deviation of ratings that a published interval rests on.

    Parameters
    ----------
    half_width : float
        Half the width of the interval of a mean, >= 0, in the unit of the ratings.
    n : int
        Number of independent ratings, at least 1.
    confidence : float
        Its nominal coverage.

    Returns
    -------
    float
        half_width sqrt(n) / z. Above `largest_sd` of the published mean, the interval,
        the number of ratings or their independence cannot be as printed.

    Examples
    --------
    >>> round(implied_sd(0.0215, 800), 4)
    0.3103
    """
    _check_n(n)
    if not half_width >= 0:
        raise ValueError(f"A half-width of {half_width} is impossible.")
    return half_width * math.sqrt(n) / normal_quantile(confidence)


def _check_n(n: int) -> None:
    if not n >= 1:
        raise ValueError(f"At least one rating is needed, not {n}.")
