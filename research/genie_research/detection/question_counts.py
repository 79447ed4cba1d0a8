"""Numbers of test questions answered in a pool of workers: seven shapes.

The precision and recall of a detector depend on how many workers answered only one or
two questions, and those counts were not published. So a detector is compared over seven
pools that differ only in these.
"""

from collections.abc import Callable

import numpy as np

from quality.counts import Floats, Ints

#: Workers of Genie's study of WMT21.
N_WORKERS = 88


#: The largest number in one study, which cuts the shapes' tails.
LONGEST = 2_000


def _lognormal(middle: float, spread: float) -> Callable[[Floats], Floats]:
    def quantile(share: Floats) -> Floats:
        from scipy import stats

        return np.exp(middle + spread * stats.norm.ppf(share))

    return quantile


def _geometric(success: float, step: int = 1) -> Callable[[Floats], Floats]:
    def quantile(share: Floats) -> Floats:
        from scipy import stats

        return step * stats.geom.ppf(share, success)

    return quantile


_QUANTILES: dict[str, Callable[[Floats], Floats]] = {
    "lognormal": _lognormal(1.8, 1.5),
    "lognormal-small": _lognormal(1.4, 1.3),
    "lognormal-heavy": _lognormal(1.5, 2.0),
    "geometric": _geometric(1 / 12),
    "pareto": lambda share: (1 - share) ** (-1 / 0.9),
    "uniform": lambda share: np.ceil(30 * share),
    "whole-hits": _geometric(1 / 4, step=4),
}

#: Names of the shapes; the first is the one of the published comparison.
QUESTION_COUNTS: tuple[str, ...] = tuple(_QUANTILES)


def question_counts(name: str, n_workers: int = N_WORKERS) -> Ints:
    """Return the numbers of test questions answered in a pool of the named shape.

    Parameters
    ----------
    name : str
        One of :data:`QUESTION_COUNTS`: ``lognormal`` (median 6, sigma 1.5),
        ``lognormal-small`` (median 4, sigma 1.3), ``lognormal-heavy`` (median 4.5,
        sigma 2), ``geometric`` (mean 12), ``pareto`` (tail index .9: most answer one or
        two), ``uniform`` (1 to 30), ``whole-hits`` (multiples of 4).

    Returns
    -------
    ndarray of int64, shape (n_workers,)
        The shape's quantiles at (i - 1/2) / n_workers, rounded, from 1 to 2,000: no
        randomness, so that two studies differ in their answers only.
    """
    shares = (np.arange(n_workers) + 0.5) / n_workers
    values = np.rint(np.asarray(_QUANTILES[name](shares), dtype=np.float64))
    return np.clip(values, 1, LONGEST).astype(np.int64)
