"""Williams' test of whether one metric correlates better with people than another.

Both correlations share people's scores, and the metrics correlate with each other, so
that a test of two independent correlations would be far too weak.
"""

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.correlation import pearson_rows

FEWEST = 4


def williams_test(
    human: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike
) -> float:
    """Test whether the first metric's correlation with people is the higher one.

    Parameters
    ----------
    human, first, second : array_like, shape (s,)
        A score per system; higher is better. Systems that lack one are left out.

    Returns
    -------
    float
        One-sided p-value by Student's t with s - 3 degrees of freedom. NaN with fewer
        than four systems, or if scores do not vary; 1/2 if the two metrics are identical.

    Notes
    -----
    Systems are treated as a random sample and scores as normal; instances are fixed. A
    permutation test over instances answers a different question, about these systems only.

    References
    ----------
    Williams (1959), Regression Analysis, section 5.5; Steiger (1980), Psychological
    Bulletin 87, equation 7; Graham and Baldwin (2014), Testing for Significance of
    Increased Correlation with Human Judgment, EMNLP, section 3.

    Examples
    --------
    >>> people = [1, 2, 3, 4, 5, 6, 7, 8]
    >>> good, poor = [1, 2, 4, 3, 5, 6, 8, 7], [3, 1, 6, 2, 4, 8, 5, 7]
    >>> round(williams_test(people, good, poor), 4)
    0.0234
    """
    scores = [np.asarray(each, dtype=np.float64) for each in (human, first, second)]
    known = np.isfinite(scores).all(axis=0)
    h, a, b = (each[known] for each in scores)
    if len(h) < FEWEST:
        return float("nan")
    return williams_p(
        float(pearson_rows(h, a)),
        float(pearson_rows(h, b)),
        float(pearson_rows(a, b)),
        len(h),
    )


def williams_p(first: float, second: float, between: float, n: int) -> float:
    """Compute the p-value of `williams_test` from the three correlations.

    Parameters
    ----------
    first, second : float
        Of people with each metric.
    between : float
        Of the metrics with each other.
    n : int
        Systems, at least `FEWEST`.

    References
    ----------
    Steiger (1980), Psychological Bulletin 87, equation 7.
    """
    from scipy import stats

    if np.isnan([first, second, between]).any():
        return float("nan")
    determinant = 1 - first**2 - second**2 - between**2
    determinant += 2 * first * second * between
    mean = (first + second) / 2
    below = 2 * (n - 1) / (n - 3) * max(determinant, 0.0)
    below += mean**2 * (1 - between) ** 3
    gap = first - second
    # identical metrics give 0 / 0, and their gap may be a rounding error
    if below <= 1e-14 or abs(gap) <= 1e-12:
        return 0.5 if abs(gap) <= 1e-7 else float(gap < 0)
    t = gap * np.sqrt((n - 1) * (1 + between) / below)
    return float(stats.t.sf(t, n - 3))


def reached_by_chance(n: int) -> float:
    """Compute Pearson's correlation that unrelated metrics exceed in one of 20 cases.

    Parameters
    ----------
    n : int
        Systems with normal scores, at least 3.

    References
    ----------
    Student (1908), Probable Error of a Correlation Coefficient, Biometrika 6.
    """
    from scipy import stats

    t = float(stats.t.ppf(0.975, n - 2))
    return t / float(np.sqrt(n - 2 + t * t))
