"""Straight-lining: the same answer again and again, whatever the item."""

import numpy as np

from quality.counts import Floats, Ints


def repeated_answers(worker: Ints, level: Ints, n_workers: int) -> Floats:
    """Return how much more often an answer equals the one before than by chance.

    Parameters
    ----------
    worker, level : ndarray of int, shape (n,)
        Each worker's in the order of answering.

    Returns
    -------
    ndarray, shape (n_workers,)
        Standard deviations above the expectation from a worker's own shares of levels;
        0 with fewer than two answers or levels. A worker who gives one level only has
        no shares to compare with and counts as :func:`constant_answers`.

    References
    ----------
    A. Wald and J. Wolfowitz, Annals of Mathematical Statistics 11 (1940), 147-162
    (runs), for several levels as in A. Mood, ibid., 367-392.
    """
    found = np.zeros(n_workers)
    for one in range(n_workers):
        own = level[worker == one]
        n = len(own)
        if n < 2:
            continue
        counts = np.bincount(own)
        same = float((counts * (counts - 1)).sum()) / (n * (n - 1))
        if same >= 1 or same <= 0:
            continue
        seen = int((own[1:] == own[:-1]).sum())
        found[one] = (seen - (n - 1) * same) / ((n - 1) * same * (1 - same)) ** 0.5
    return found


def constant_answers(worker: Ints, level: Ints, n_workers: int) -> Floats:
    """Return the share of each worker's answers that are one of two neighboring levels.

    Parameters
    ----------
    worker, level : ndarray of int, shape (n,)

    Returns
    -------
    ndarray, shape (n_workers,)
        1 for always 4 or 5; 0 without answers.

    References
    ----------
    P. Curran, Journal of Experimental Social Psychology 66 (2016), 4-19, section on
    invariability.
    """
    n_levels = int(level.max(initial=0)) + 2
    counts = np.zeros((n_workers, n_levels))
    np.add.at(counts, (worker, level), 1.0)
    pairs = (counts[:, 1:] + counts[:, :-1]).max(axis=1)
    return np.asarray(pairs / np.maximum(counts.sum(axis=1), 1))
