"""Dawid and Skene's model: a confusion matrix for each worker, a class for each item."""

from dataclasses import dataclass

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.workers.residuals import log_sum

_LEAST = 1e-10


@dataclass(frozen=True)
class DawidSkene:
    """Confusion matrices and classes at a maximum of the likelihood.

    Attributes
    ----------
    confusion : ndarray, shape (n_workers, n_labels, n_labels)
        Probability of a worker's label (last) given the class (middle).
    prior : ndarray, shape (n_labels,)
    """

    confusion: Floats
    prior: Floats

    @property
    def informed(self) -> Floats:
        """How closely labels follow classes: 0 for guessing, 1 for always right."""
        n = self.confusion.shape[2]
        if n < 2:
            return np.zeros(len(self.confusion))
        right = self.confusion[:, np.arange(n), np.arange(n)].mean(axis=1)
        return np.asarray((right - 1 / n) / (1 - 1 / n))


def dawid_skene(
    item: Ints,
    worker: Ints,
    label: Ints,
    *,
    smoothing: float = 0.0,
    n_iterations: int = 200,
    tolerance: float = 1e-9,
) -> DawidSkene:
    """Fit Dawid and Skene's model by EM, from the items' shares of labels.

    Parameters
    ----------
    item, worker, label : ndarray of int, shape (n,)
        Numbers from 0, each of which occurs.
    smoothing : float, default 0
        Prior labels of each class and kind for every worker:
        without any, a worker with few answers has a matrix of zeros and ones.
    tolerance : float, default 1e-9
        The fit ends when no item's probability changes by more.

    References
    ----------
    A. Dawid and A. Skene, Applied Statistics 28 (1979), 20-28, equations 2.3 to 2.5.
    Checked against crowd-kit 1.4.2.
    """
    if not len(label):
        return DawidSkene(np.zeros((0, 0, 0)), np.zeros(0))
    n_items, n_workers = int(item.max()) + 1, int(worker.max()) + 1
    n_labels = int(label.max()) + 1
    p = np.zeros((n_items, n_labels))
    np.add.at(p, (item, label), 1.0)
    p /= p.sum(axis=1, keepdims=True)
    for _ in range(n_iterations):
        counts = np.full((n_workers, n_labels, n_labels), smoothing)
        np.add.at(counts.transpose(0, 2, 1), (worker, label), p[item])
        counts = np.maximum(counts, _LEAST)
        confusion = counts / counts.sum(axis=2, keepdims=True)
        prior = np.maximum(p.mean(axis=0), _LEAST)
        joint = np.tile(np.log(prior), (n_items, 1))
        np.add.at(joint, item, np.log(confusion[worker, :, label]))
        after = np.exp(joint - log_sum(joint)[:, None])
        moved = float(np.abs(after - p).max())
        p = after
        if moved < tolerance:
            break
    return DawidSkene(confusion, prior)
