"""Jackknife interval of a soft pairwise accuracy."""

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.soft_accuracy import complete_instances, superiority
from leaderboard.stats.intervals import Interval, check_confidence
from leaderboard.stats.resampling import Floats

N_BLOCKS = 20


def soft_accuracy_interval(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    seed: int,
    confidence: float = 0.95,
) -> Interval:
    """Compute a soft pairwise accuracy with its jackknife interval.

    Parameters
    ----------
    human : array_like, shape (s, n)
        Instances without a score (NaN) of every system are left out.
    metric : array_like, shape (s, n)
        Higher is better.
    seed : int
        Cuts the instances into blocks.

    Returns
    -------
    Interval
        Within [0, 1]; infinitely wide for fewer than three systems. p-values are the
        normal limit, so the estimate may differ from the permuted one by about .001.

    Notes
    -----
    A bootstrap is unsuitable: a resample's p-values are closer to 0 and 1 than the
    sample's, for people and the metric independently. The jackknife leaves out one system,
    or one of up to 20 blocks of instances, at a time, which changes p-values little; the
    two variances add up, with Student's quantile for the smaller number of parts.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 11.5;
    Thompson et al. (2024) for the statistic.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> level = np.linspace(0, 0.3, 10)[:, None]
    >>> people, metric = (level + rng.normal(size=(10, 300)) for _ in range(2))
    >>> interval = soft_accuracy_interval(people, metric, seed=1)
    >>> interval.low < interval.estimate < interval.high
    True
    """
    from scipy import stats

    check_confidence(confidence)
    h, m = complete_instances(human, metric)
    n_systems, n = h.shape
    gaps = _gaps(h, m)
    estimate = _mean_above(gaps)
    low, high = -np.inf, np.inf
    if n_systems >= 3:
        n_blocks = min(N_BLOCKS, n)
        without_system = [
            _mean_above(np.delete(np.delete(gaps, i, axis=0), i, axis=1))
            for i in range(n_systems)
        ]
        variance = _jackknife(without_system)
        if n_blocks >= 2:
            block = np.random.default_rng(seed).permutation(n) % n_blocks
            variance += _jackknife(
                [
                    _mean_above(_gaps(h[:, block != b], m[:, block != b]))
                    for b in range(n_blocks)
                ]
            )
        # the variance from fewer parts is less certain
        parts = min(n_systems, max(n_blocks, 2))
        reach = float(stats.t.ppf((1 + confidence) / 2, parts - 1) * np.sqrt(variance))
        low, high = max(0.0, estimate - reach), min(1.0, estimate + reach)
    return Interval(
        estimate,
        low,
        high,
        confidence,
        "jackknife over systems and instances",
        "which instances were rated and which systems were submitted, for this "
        "pool of workers",
        n_systems,
    )


def _gaps(h: Floats, m: Floats) -> Floats:
    people = superiority(h, n_permutations=None)
    return np.asarray(np.abs(people - superiority(m, n_permutations=None)))


def _mean_above(gaps: Floats) -> float:
    above = gaps[np.triu_indices(len(gaps), k=1)]
    return float(1 - above.mean()) if above.size else float("nan")


def _jackknife(values: list[float]) -> float:
    n = len(values)
    return float((n - 1) * np.var(values))
