"""Numbers of instances for separating two systems."""

import math

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import as_ratings
from leaderboard.stats.planning import Plan, smallest


def largest_sd_of_difference(
    difference: float, *, low: float = 0.0, high: float = 1.0, independent: bool = False
) -> float:
    """Return the largest spread of the difference of two ratings of one instance.

    Parameters
    ----------
    difference : float
        Mean difference of the two systems, at most high - low in size.
    independent : bool
        False: the two ratings may depend on each other in any way. True: they do not
        (different workers rate instances that are equally hard).

    Returns
    -------
    float
        sqrt((high - low)^2 - difference^2), or that over sqrt(2) when independent.

    References
    ----------
    Bhatia and Davis (2000), theorem 1, for the difference, which lies within
    +-(high - low); the independent case puts the two means evenly about the middle.

    Examples
    --------
    >>> round(largest_sd_of_difference(0.6), 6), round(largest_sd_of_difference(0), 6)
    (0.8, 1.0)
    """
    sd = math.sqrt((high - low) ** 2 - difference**2)
    return sd / math.sqrt(2) if independent else sd


def paired_power(
    n_instances: int, difference: float, sd: float, *, alpha: float = 0.05
) -> float:
    """Return the probability that a paired test finds a difference.

    Parameters
    ----------
    n_instances : int
        Instances both systems are rated on, at least 2.
    difference, sd : float
        Mean and standard deviation (> 0) of the paired differences.

    Returns
    -------
    float
        Power of the t-test; the paired bootstrap and randomization come close to it.

    References
    ----------
    Cohen (1988), Statistical Power Analysis, section 2.3; Card et al. (2020), With
    Little Power Comes Great Responsibility, section 2.
    """
    # scipy.stats takes a second to import, so the first request that plans pays it
    from scipy import special

    freedom = n_instances - 1
    # noncentrality of Student's t: the difference in standard errors
    shift = abs(difference) / sd * math.sqrt(n_instances)
    edge = float(special.stdtrit(freedom, 1 - alpha / 2))
    above = 1 - float(special.nctdtr(freedom, shift, edge))
    below = float(special.nctdtr(freedom, shift, -edge))
    # in the far tails the library underflows to NaN: rejecting is sure (above) or
    # rejecting on the wrong side impossible (below)
    above = 1.0 if math.isnan(above) else above
    return min(1.0, above + (0.0 if math.isnan(below) else below))


def plan_power(
    difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05
) -> Plan:
    """Find the number of instances for separating two systems.

    Parameters
    ----------
    difference : float
        Smallest difference worth finding, not 0, in the unit of the ratings.
    sd : float
        Standard deviation of the paired differences: from a pilot, or
        `largest_sd_of_difference`.
    power : float
        Probability of finding it, strictly between 0 and 1.

    Returns
    -------
    Plan
        For both systems with one rating per instance each; `half_width` is that of the
        difference's interval.

    Raises
    ------
    GenieError
        "out-of-reach" if ten million instances are not enough.

    References
    ----------
    Cohen (1988), section 2.4; Card et al. (2020), section 4.
    """
    from scipy import special

    def enough(n_instances: int) -> bool:
        return paired_power(max(n_instances, 2), difference, sd, alpha=alpha) >= power

    n_instances = max(2, smallest(enough))
    t = float(special.stdtrit(n_instances - 1, 1 - alpha / 2))
    width = t * sd / math.sqrt(n_instances)
    reached = paired_power(n_instances, difference, sd, alpha=alpha)
    return Plan(n_instances, 1, None, None, 1 - alpha, width, reached)


def pilot_sd_of_difference(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the standard deviation of paired differences in a pilot of two systems.

    Examples
    --------
    >>> pilot_sd_of_difference([1, 2, 3], [1, 1, 1])
    1.0
    """
    first, second = as_ratings(a), as_ratings(b)
    return float(np.std(first - second, ddof=1))
