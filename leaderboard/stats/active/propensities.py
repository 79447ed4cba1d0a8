"""How likely each pair of systems is to be asked about next."""

from __future__ import annotations

import numpy as np

from leaderboard.stats.active.deciding import PairByPair
from leaderboard.stats.resampling import Floats

#: Share of the labels that every pair gets an equal part of, whatever is known.
FLOOR = 0.1
# Labels that a gap's error is taken to have been measured with before there are any.
_TRUST = 20.0


def uniform(deciding: PairByPair) -> Floats:
    """Draw all pairs alike, decided or not.

    Returns
    -------
    ndarray, shape (s, s)
        Symmetric, 0 on the diagonal, 1 in all over pairs.

    Examples
    --------
    >>> uniform(PairByPair(3, delta=0.05)).round(2).tolist()[0]
    [0.0, 0.33, 0.33]
    """
    n = deciding.n_systems
    return np.asarray((1 - np.eye(n)) * 2 / (n * (n - 1)))


def soonest(deciding: PairByPair, *, floor: float = FLOOR) -> Floats:
    """Draw those pairs most that are likely to be decided with the fewest labels more.

    Parameters
    ----------
    deciding : PairByPair
        What is known.
    floor : float
        Share of the draws that all pairs get alike, 0 <= floor <= 1: so that every pair
        has a propensity above 0.

    Returns
    -------
    ndarray, shape (s, s)
        As `uniform`.

    Notes
    -----
    Evidence grows by about twice the squared gap with each label (the relative entropy of
    a coin). A pair is drawn in proportion to the square of its speed over the evidence that
    it still needs; its gap is taken half a standard error too large, so that pairs that
    were asked little are not given up.

    Examples
    --------
    >>> deciding = PairByPair(3, delta=0.05)
    >>> deciding.better[0, 1] = True
    >>> soonest(deciding).round(3).tolist()[0]
    [0.0, 0.033, 0.483]
    """
    n = deciding.wins + deciding.wins.T + deciding.ties
    gap = np.abs(deciding.gaps) + 0.25 / np.sqrt(n + _TRUST)
    evidence = np.maximum(deciding.evidence, deciding.evidence.T)
    need = deciding.threshold - np.clip(evidence, 0, deciding.threshold - 0.5)
    wanted = np.where(deciding.undecided, (2 * gap**2 / need) ** 2, 0.0)
    return _shared(wanted, deciding, floor=floor)


def _shared(wanted: Floats, deciding: PairByPair, *, floor: float) -> Floats:
    if not 0 <= floor <= 1:
        raise ValueError(f"The floor lies between 0 and 1, not at {floor}.")
    total = wanted.sum() / 2
    if not total:
        return uniform(deciding)
    return np.asarray((1 - floor) * wanted / total + floor * uniform(deciding))
