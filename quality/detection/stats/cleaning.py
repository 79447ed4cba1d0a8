"""What it adds to the error of a score that nobody knows for sure who is careless."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from quality.counts import Floats


def cleaning_variance(p_careless: npt.ArrayLike, influence: npt.ArrayLike) -> Floats:
    """Give the variance of scores from not knowing who is to be left out.

    Parameters
    ----------
    p_careless : array_like, shape (n_workers,)
        Probability of each worker to be careless.
    influence : array_like, shape (n_workers,) or (n_workers, n_scores)
        By how much each score moves when the worker is left out (jackknife).

    Returns
    -------
    ndarray, shape (n_scores,)
        Sum over workers of p (1 - p) influence^2: of leaving each of them out, or not,
        with the probability that they are careless, independently.

    Raises
    ------
    ValueError
        When a probability is none, or the numbers of workers differ.

    References
    ----------
    D. Rubin, "Multiple Imputation for Nonresponse in Surveys" (1987), section 3.3: the
    variance between completed data sets, here in closed form to first order.

    Examples
    --------
    >>> cleaning_variance([0.5, 0.0], [[2.0], [9.0]]).tolist()
    [1.0]
    """
    p = np.atleast_1d(np.asarray(p_careless, dtype=np.float64))
    moves = np.asarray(influence, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("Probabilities must lie between 0 and 1.")
    if len(moves) != len(p):
        raise ValueError(f"There are {len(p)} probabilities but {len(moves)} workers.")
    moves = moves if moves.ndim == 2 else moves[:, None]
    return np.asarray((p * (1 - p)) @ moves**2, dtype=np.float64)
