"""The area under the ROC curve, with DeLong's interval."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Area:
    auc: float
    low: float
    high: float
    variance: float


def midranks(values: Floats) -> Floats:
    """Rank the values of each column from 1; ties have their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=0), dtype=np.float64)


def aucs(tests: Floats, items: Floats) -> Floats:
    """Compute each column's probability that a test has more of it than a real item.

    Ties count one half: it is Mann and Whitney's U over the number of pairs.

    Parameters
    ----------
    tests, items : ndarray
        Rows are tests and items, columns features.

    Examples
    --------
    >>> aucs(np.array([[2.0], [3.0]]), np.array([[1.0], [2.0]])).tolist()
    [0.875]
    """
    n = len(tests)
    ranks = midranks(np.concatenate([tests, items]))
    return from_ranks(ranks[:n].sum(axis=0), n, len(items))


def from_ranks(
    sums: Floats, n: int | NDArray[np.int64], m: int | NDArray[np.int64]
) -> Floats:
    """Compute the areas of `n` tests with these sums of ranks among `m` real items."""
    return (sums - n * (n + 1) / 2) / (n * m)


def area(tests: Floats, items: Floats, *, level: float = 0.95) -> Area:
    """Return the area under the curve of one score, with DeLong's interval.

    The interval is symmetric on the logit scale, so that it stays within 0 and 1.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), "Comparing the areas under two or more
    correlated receiver operating characteristic curves", Biometrics 44; the ranks are
    Sun and Xu's (2014).

    Examples
    --------
    >>> found = area(np.array([2.0, 3.0, 5.0]), np.array([1.0, 2.0, 4.0]))
    >>> round(found.auc, 3), found.low < found.auc < found.high
    (0.722, True)
    """
    from scipy.special import expit, logit
    from scipy.stats import norm

    n, m = len(tests), len(items)
    auc = float(aucs(tests[:, None], items[:, None])[0])
    together = midranks(np.concatenate([tests, items]))
    above = (together[:n] - midranks(tests)) / m
    below = 1 - (together[n:] - midranks(items)) / n
    variance = sum(
        float(part.var(ddof=1)) / len(part) for part in (above, below) if len(part) > 1
    )
    # If all pairs agree the variance is 0: use that of one more, disagreeing pair.
    inside = min(max(auc, 0.5 / (n * m + 1)), 1 - 0.5 / (n * m + 1))
    least = inside * (1 - inside) / (min(n, m) + 1) if auc in (0.0, 1.0) else 0.0
    spread = np.sqrt(max(variance, least)) / (inside * (1 - inside))
    z = float(norm.ppf(0.5 + level / 2))
    low, high = expit(logit(inside) - z * spread), expit(logit(inside) + z * spread)
    return Area(auc, min(float(low), auc), max(float(high), auc), variance)
