"""How workers answer, whatever the content: scale, time, sequence and company.

No habit counts by itself. Each is compared between workers who follow the content and
those who do not, in this pool, and counts by as much as the two differ.
"""

import numpy as np

from quality.counts import Floats
from quality.detection.stats.workers.expected import Items

#: Log-odds that one habit can add against a worker, and for one: the careless differ
#: from each other, so that being like most people says less.
_AGAINST, _FOR = 1.75, 0.5
#: Answers at which a habit counts half.
_HALF = 20.0
#: Weight of the whole pool, in workers, among those with care and those without.
_PRIOR = (4.0, 10.0)
_LEVELS = 4


def habits_of(items: Items, n_workers: int) -> Floats:
    """Return the use of the scale, the sequence and the times of each worker.

    Returns
    -------
    ndarray, shape (n_workers, 4)
        Entropy of the answers, their dependence on the one before, mean and spread of
        the logarithm of the seconds; 0 without any.
    """
    worker = items.worker
    n = np.maximum(np.bincount(worker, minlength=n_workers), 1)
    counts = np.full((n_workers, _LEVELS + 1), 0.2)
    np.add.at(counts, (worker, np.rint(_LEVELS * items.value).astype(np.int64)), 1)
    share = counts / counts.sum(axis=1, keepdims=True)
    around = items.value - (np.bincount(worker, items.value, n_workers) / n)[worker]
    next_to = np.flatnonzero(worker[1:] == worker[:-1])
    together = around[next_to] * around[next_to + 1]
    squares = np.bincount(worker, around**2, n_workers) + 0.05
    known = np.nan_to_num(items.seconds) > 0
    time = np.log(np.where(known, items.seconds, 1))
    timed = np.maximum(np.bincount(worker, known, n_workers), 1)
    pace = np.bincount(worker, time, n_workers) / timed
    off = np.where(known, time - pace[worker], 0) ** 2
    spread = np.bincount(worker, off, n_workers) / timed
    return np.stack(
        [
            -(share * np.log(share)).sum(axis=1),
            np.bincount(worker[next_to], together, n_workers) / squares,
            pace,
            np.log(np.sqrt(spread) + 0.05),
        ],
        axis=1,
    )


def company_of(items: Items, mean: Floats, careful: Floats) -> Floats:
    """Return how much workers agree beyond the content with others without care.

    Parameters
    ----------
    careful : ndarray, shape (n_workers,)
        Probabilities.
    """
    n_workers, worker, item = len(careful), items.worker, items.groups[2][0]
    n = np.maximum(np.bincount(worker, minlength=n_workers), 1)
    left = items.value - mean
    left = left - (np.bincount(worker, left, n_workers) / n)[worker]
    scatter = np.sqrt(np.bincount(worker, left**2, n_workers) / n + 0.01)
    left = left / scatter[worker]
    doubted = (1 - careful)[worker] * left
    others = np.bincount(item, doubted)[item] - doubted
    shared = np.bincount(item)[item] > 1
    both = np.bincount(worker, left * others * shared, n_workers)
    return np.asarray(both / np.sqrt(np.bincount(worker, shared, n_workers) + 1))


def odds_of(habits: Floats, careful: Floats, n_answers: Floats) -> Floats:
    """Return the log-odds of care that habits add.

    Parameters
    ----------
    habits : ndarray, shape (n_workers, n_habits)
    careful : ndarray, shape (n_workers,)
        Probabilities from the other evidence.
    n_answers : ndarray, shape (n_workers,)

    Examples
    --------
    Two of ten are fast, and do not follow the content:

    >>> fast = (np.arange(10) < 2)[:, None] * 1.0
    >>> found = odds_of(fast, 1 - fast[:, 0], np.full(10, 60.0))
    >>> bool(found[0] < -0.5 < found[9])
    True
    """
    total = np.zeros(len(careful))
    part = n_answers / (n_answers + _HALF)
    for own in habits.T:
        sides = [
            _log_density(own, weight, prior)
            for weight, prior in zip((careful, 1 - careful), _PRIOR, strict=True)
        ]
        total += np.clip(sides[0] - sides[1], -_AGAINST * part, _FOR * part)
    return np.clip(total, -2 * _AGAINST * part, 2 * _FOR * part)


def _log_density(own: Floats, weight: Floats, prior: float) -> Floats:
    n_workers = max(len(own), 1)
    usual = own.sum() / n_workers
    spread = ((own - usual) ** 2).sum() / n_workers + 1e-6
    n = prior + weight.sum()
    mean = (prior * usual + weight @ own) / n
    variance = prior * (spread + (usual - mean) ** 2) + weight @ (own - mean) ** 2
    return np.asarray(-np.log(variance / n) / 2 - (own - mean) ** 2 / 2 / variance * n)
