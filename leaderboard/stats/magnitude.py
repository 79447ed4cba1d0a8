"""Magnitude estimation: ratings that are ratios ("twice as good").

A magnitude is a ratio to a reference, so it is averaged as a geometric mean, and
workers who use larger numbers are brought to a common modulus by division.
"""

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats, as_ratings


def log_magnitudes(values: npt.ArrayLike) -> Floats:
    """Return the natural logarithms of magnitudes."""
    magnitudes = as_ratings(values, what="magnitudes")
    if (magnitudes <= 0).any():
        first_bad = int(np.flatnonzero(magnitudes <= 0)[0])
        raise ValueError(
            f"A magnitude is a ratio and must be above zero; number {first_bad + 1} is"
            f" {magnitudes[first_bad]}."
        )
    return np.log(magnitudes)


def normalise_magnitudes(values: npt.ArrayLike, workers: npt.ArrayLike) -> Floats:
    """Convert the magnitudes of all workers to one scale.

    Parameters
    ----------
    values : array_like, shape (n,)
        Magnitudes above zero.
    workers : array_like, shape (n,)
        The worker of each.

    Returns
    -------
    ndarray, shape (n,)
        Divided by the worker's geometric mean and multiplied by the grand one: ratios
        within a worker stay as they were, and so does the unit.

    Notes
    -----
    This removes the average quality of the outputs that a worker saw. If
    workers saw different systems, that loses information; then use
    `leaderboard.stats.systems.estimates` on the logarithms.

    References
    ----------
    Bard, Robertson and Sorace (1996), section 3; Siddharthan and Katsos (2012),
    section 4.1.
    """
    logs = log_magnitudes(values)
    labels = np.asarray(workers)
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    counts = np.bincount(codes)
    centered = logs - (np.bincount(codes, logs) / counts)[codes]
    # sorted, so that the order of the magnitudes does not affect the last digit
    return np.asarray(np.exp(centered + np.sort(logs).mean()), dtype=np.float64)
