"""Magnitude estimation: ratings that are ratios ("twice as good").

A magnitude is a ratio to a reference, so it is averaged as a geometric mean, and
workers who use larger numbers are brought to a common modulus by division.
"""

from typing import Literal

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


def normalise_magnitudes(
    values: npt.ArrayLike,
    workers: npt.ArrayLike,
    *,
    method: Literal["modulus", "z"] = "modulus",
) -> Floats:
    """Convert the magnitudes of all workers to one scale.

    Parameters
    ----------
    values : array_like, shape (n,)
        Magnitudes above zero.
    workers : array_like, shape (n,)
        The worker of each.
    method : {"modulus", "z"}
        "modulus" divides by the worker's geometric mean and multiplies by the grand
        one: ratios within a worker stay as they were, and so does the unit. "z"
        standardizes the logarithms within each worker, which also equalizes the
        workers' spread; the result is in standard deviations of log magnitude, 0 for
        workers who gave one magnitude only.

    Returns
    -------
    ndarray, shape (n,)

    Notes
    -----
    Both remove the average quality of the outputs that a worker saw. If
    workers saw different systems, that loses information; then use
    `leaderboard.stats.systems.estimates` on the logarithms.

    References
    ----------
    Bard, Robertson and Sorace (1996), section 3; Siddharthan and Katsos (2012),
    section 4.1.
    """
    logs = log_magnitudes(values)
    labels = np.asarray(workers)
    if labels.shape != logs.shape:
        raise ValueError("Every magnitude needs the worker who gave it.")
    if method not in ("modulus", "z"):
        raise ValueError(f'The method must be "modulus" or "z", not {method!r}.')
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    counts = np.bincount(codes)
    centered = logs - (np.bincount(codes, logs) / counts)[codes]
    if method == "modulus":
        # sorted, so that the order of the magnitudes does not affect the last digit
        return np.asarray(np.exp(centered + np.sort(logs).mean()), dtype=np.float64)
    spread = np.sqrt(np.bincount(codes, centered**2) / np.maximum(counts - 1, 1))
    flat = spread <= 1e-12
    spread[flat] = 1.0
    z: Floats = np.where(flat[codes], 0.0, centered / spread[codes])
    return z
