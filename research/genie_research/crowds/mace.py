"""MACE: each answer is the item's class, or a guess by the worker's own habit."""

from dataclasses import dataclass

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.workers.residuals import log_sum


@dataclass(frozen=True)
class Mace:
    """How often workers look at items, and their guesses otherwise.

    Attributes
    ----------
    competence : ndarray, shape (n_workers,)
        Share of answers that are the item's class and no guess.
    guess : ndarray, shape (n_workers, n_labels)
    """

    competence: Floats
    guess: Floats
    log_likelihood: float


def mace(
    item: Ints,
    worker: Ints,
    label: Ints,
    *,
    smoothing: float = 0.5,
    n_iterations: int = 100,
    n_restarts: int = 4,
    seed: int,
) -> Mace:
    """Fit MACE by EM, and keep the best of several starts.

    Parameters
    ----------
    item, worker, label : ndarray of int, shape (n,)
        Numbers from 0, each of which occurs.
    smoothing : float, default 0.5
        Added to expected counts of looks, guesses and guessed labels.
    seed : int
        Of the starts.

    References
    ----------
    D. Hovy, T. Berg-Kirkpatrick, A. Vaswani and E. Hovy, NAACL 2013, section 2 (here
    with smoothed counts, not variational). Checked against crowd-kit 1.4.2.
    """
    if not len(label):
        return Mace(np.zeros(0), np.zeros((0, 0)), 0.0)
    rng = np.random.default_rng(seed)
    starts = [
        _one(item, worker, label, smoothing, n_iterations, rng)
        for _ in range(n_restarts)
    ]
    return max(starts, key=lambda found: found.log_likelihood)


def _one(
    item: Ints,
    worker: Ints,
    label: Ints,
    smoothing: float,
    n_iterations: int,
    rng: np.random.Generator,
) -> Mace:
    n_items, n_workers = int(item.max()) + 1, int(worker.max()) + 1
    n_labels = int(label.max()) + 1
    rows = np.arange(len(label))
    competence = rng.uniform(0.4, 0.6, n_workers)
    guess = rng.uniform(1, 1.5, (n_workers, n_labels))
    guess /= guess.sum(axis=1, keepdims=True)
    for _ in range(n_iterations):
        guessed = (1 - competence[worker]) * guess[worker, label]
        chance = np.tile(guessed[:, None], (1, n_labels))
        chance[rows, label] += competence[worker]
        joint = np.full((n_items, n_labels), -np.log(n_labels))
        np.add.at(joint, item, np.log(np.maximum(chance, 1e-300)))
        total = log_sum(joint)
        p = np.exp(joint - total[:, None])
        looked = p[item, label] * competence[worker] / chance[rows, label]
        looks = np.bincount(worker, looked, n_workers)
        counts = np.zeros((n_workers, n_labels))
        np.add.at(counts, (worker, label), 1 - looked)
        guesses = counts.sum(axis=1)
        competence = (looks + smoothing) / (looks + guesses + 2 * smoothing)
        guess = (counts + smoothing) / (guesses + n_labels * smoothing)[:, None]
    return Mace(competence, guess, float(total.sum()))
