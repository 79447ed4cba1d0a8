"""Whether a worker's answers follow the content, given what others answered about it.

Careless answers do not depend on the content, however they are made: at random, by a
habit, in a pattern, or together with another worker. Careful ones are a worker's own
level plus a multiple of what others' answers lead to expect, and noise. Level and
multiple are free, so that strict and lenient people, and those who use a part of the
scale, are alike.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.workers.answers import AssessOptions
from quality.detection.stats.workers.expected import Expected, Items

#: How much careful people follow the content: the multiple over the noise. Its median
#: in a pool, the spread of its logarithm between people, and the prior of the median.
SLOPES: Floats = np.exp(np.linspace(np.log(0.8), np.log(8), 24))
SPREADS = (0.15, 0.3, 0.45)
_USUAL, _USUAL_SD = 3.2, 0.6
_POINTS: Floats = np.linspace(-2, 2, 9)
_WEIGHTS = np.exp(-(_POINTS**2) / 2) / np.exp(-(_POINTS**2) / 2).sum()
_SHARES: Floats = np.linspace(0.02, 0.98, 33)
#: Shares of the careful who stop reading, and of the careless who began with care; and
#: the least answers with care before that.
_STOPS, _BEGAN, _FIRST = 0.1, 0.3, 5


class Follows(NamedTuple):
    """Sums over answers: of one worker, or of the first answers up to each.

    Attributes
    ----------
    n, spread : ndarray
        Answers, and the squares of expected answers around their mean.
    correlation : ndarray
        Of answers with expected ones; 0 if either do not vary.
    """

    n: Floats
    spread: Floats
    correlation: Floats


def _follows(
    n: Any, y: Any, p: Any, yy: Any, pp: Any, yp: Any, *, level: float
) -> Follows:
    # A worker's level is not wholly free: it is like `level` answers at the center, so
    # that a run of answers far from all expected ones counts without any contrast.
    size = n + level
    spread, own = np.maximum(pp - p**2 / size, 0), yy - y**2 / size
    varied = (spread > 1e-9) & (own > 1e-9)
    product = np.sqrt(np.where(varied, spread * own, 1))
    found = np.where(varied, (yp - y * p / size) / product, 0)
    return Follows(n, spread, np.clip(found, -1, 1))


def by_worker(items: Items, expected: Expected, n_workers: int) -> Follows:
    """Compare each worker's answers with the expected ones."""
    return _follows(
        *(np.bincount(items.worker, one, n_workers) for one in _sums(items, expected)),
        level=expected.level,
    )


def by_answer(items: Items, expected: Expected) -> Follows:
    """Compare the answers up to each one with the expected ones."""
    return _follows(
        *(sum_until(one, items.worker) for one in _sums(items, expected)),
        level=expected.level,
    )


def _sums(items: Items, expected: Expected) -> tuple[Floats, ...]:
    w, y, mean = items.weight, items.value, expected.mean - expected.center
    y = y - expected.center
    return w, w * y, w * mean, w * y * y, w * mean * mean, w * y * mean


def sum_until(column: Floats, worker: Ints) -> Floats:
    """Return sums up to each answer of a worker; workers are in ascending order.

    Examples
    --------
    >>> sum_until(np.array([1.0, 2, 5, 5]), np.array([0, 0, 4, 4])).tolist()
    [1.0, 3.0, 5.0, 10.0]
    """
    total = np.cumsum(column)
    first = np.searchsorted(worker, worker)
    return np.asarray(total - np.concatenate([[0.0], total])[first])


def log_odds(found: Follows, slopes: Floats) -> Floats:
    """Return the log-likelihood ratio of careful against careless answers.

    Parameters
    ----------
    slopes : ndarray, shape (n_slopes,)
        Multiples over the noise of careful people.

    Returns
    -------
    ndarray, shape (n, n_slopes)

    References
    ----------
    The density of Student's noncentral t over that of the central one (N. Johnson and B.
    Welch, Biometrika 31, 1940), with the chi variable in it taken as normal: level and
    noise of a worker are unknown.

    Examples
    --------
    >>> ten = Follows(np.array([40.0]), np.array([1.0]), np.array([0.0]))
    >>> log_odds(ten, np.array([4.0])).tolist()
    [[-8.0]]
    """
    shift = slopes * np.sqrt(found.spread)[..., None]
    pull = shift * found.correlation[..., None]
    chi = np.sqrt(np.maximum(found.n - 1.5, 0.5))[..., None]
    # Answers against the content count hardly more than any that do not follow it: a
    # few may come of a misread scale.
    against = np.maximum(pull * chi, -shift)
    return np.asarray(against - shift**2 / 2 + np.maximum(pull, 0) ** 2 / 4)


def average_odds(found: Follows, slope: float, spread: float) -> Floats:
    """Return :func:`log_odds`, averaged over careful people."""
    slopes = slope * np.exp(spread * _POINTS)
    return log_sum(log_odds(found, slopes) + np.log(_WEIGHTS))


def log_sum(values: Floats, axis: int = -1) -> Floats:
    """Return the logarithm of the sum of exponentials.

    Examples
    --------
    >>> log_sum(np.array([[0.0, 0.0], [0.0, -99.0]])).round(3).tolist()
    [0.693, 0.0]
    """
    top = values.max(axis=axis, keepdims=True)
    total = np.log(np.exp(values - top).sum(axis=axis))
    return np.asarray(total + np.squeeze(top, axis), dtype=np.float64)


@dataclass(frozen=True)
class Crowd:
    """The estimates about a pool: its careful people, and how many they are.

    Attributes
    ----------
    slope, spread : float
        Median and spread of the slopes of careful people.
    share, share_low, share_high : float
        Of careful workers, with the ends of its 95% interval.
    """

    slope: float
    spread: float
    share: float
    share_low: float
    share_high: float


def fit_crowd(found: Follows, more: Floats, options: AssessOptions) -> Crowd:
    """Average over all slopes and shares of careful workers, by their probabilities.

    Parameters
    ----------
    more : ndarray, shape (n_workers,)
        Log-odds of care by other evidence.
    """
    settings = [(slope, spread) for spread in SPREADS for slope in SLOPES]
    fits = np.zeros((len(settings), len(_SHARES)))
    for row, setting in enumerate(settings):
        odds = (average_odds(found, *setting) + more)[:, None]
        fits[row] = np.logaddexp(odds + np.log(_SHARES), np.log(1 - _SHARES)).sum(0)
    good = options.strength * (1 - options.share_careless)
    fits += (good - 1) * np.log(_SHARES)
    fits += (options.strength - good - 1) * np.log(1 - _SHARES)
    slopes, spreads = np.array(settings).T
    fits -= (((np.log(slopes) - np.log(_USUAL)) / _USUAL_SD) ** 2 / 2)[:, None]
    p = np.exp(fits - fits.max())
    p /= p.sum()
    by_setting, by_share = p.sum(axis=1), p.sum(axis=0)
    ends = np.searchsorted(np.cumsum(by_share), [0.025, 0.975])
    low, high = _SHARES[np.minimum(ends, len(_SHARES) - 1)]
    share = float(by_share @ _SHARES)
    return Crowd(
        float(by_setting @ slopes), float(by_setting @ spreads), share, low, high
    )


def correlation_of(found: Follows, crowd: Crowd) -> Floats:
    """Return the correlations that careful people would show."""
    slopes = crowd.slope * np.exp(crowd.spread * _POINTS)
    shift = slopes * np.sqrt(found.spread / np.maximum(found.n, 1))[:, None]
    return np.asarray((shift / np.sqrt(1 + shift**2)) @ _WEIGHTS)


@dataclass(frozen=True)
class Care:
    """Probabilities of care.

    Attributes
    ----------
    whole : ndarray, shape (n_workers,)
        Of all answers of a worker.
    answer : ndarray, shape (n,)
        Of each answer: a worker may have stopped reading after it.
    against : ndarray, shape (n_workers,)
        Log-odds of being careless now, from the beginning or since a place, before the
        share of careless workers is considered.
    """

    whole: Floats
    answer: Floats
    against: Floats


def care_of(items: Items, expected: Expected, more: Floats, crowd: Crowd) -> Care:
    """Compute the probability that each answer was given with care.

    References
    ----------
    D. Barry and J. Hartigan, JASA 88 (1993), 309-319, for product partitions with one
    change.
    """
    n_workers, worker = len(more), items.worker
    counts = np.bincount(worker, minlength=n_workers)
    odds = average_odds(
        by_worker(items, expected, n_workers), crowd.slope, crowd.spread
    )
    until = average_odds(by_answer(items, expected), crowd.slope, crowd.spread)
    place = sum_until(np.ones(len(worker)), worker)
    able = (place >= _FIRST) & (place < counts[worker])
    places = np.maximum(counts - _FIRST, 1)[worker]
    top = np.maximum(odds + more, 0.0)
    np.maximum.at(top, worker[able], until[able])
    stopped = np.where(able, np.exp(until - top[worker]) / places, 0.0)
    whole, never = np.exp(odds + more - top), np.exp(-top)
    late = np.bincount(worker, stopped, n_workers)
    parts = crowd.share * np.stack([(1 - _STOPS) * whole, _STOPS * late])
    total = parts.sum(axis=0) + (1 - crowd.share) * never
    after = late[worker] - sum_until(stopped, worker) + stopped
    careless = (1 - _BEGAN) * never + _BEGAN * late
    return Care(
        parts[0] / total,
        (parts[0][worker] + crowd.share * _STOPS * after) / total[worker],
        np.log(careless) - np.log(np.maximum(whole, 1e-300)),
    )
