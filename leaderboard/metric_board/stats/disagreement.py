"""Where metrics contradict each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats

_CHUNK_SIGNS = 4_000_000


def disagreement(scores: npt.ArrayLike) -> Floats:
    """Give the share of pairs of outputs that two metrics do not order alike.

    Parameters
    ----------
    scores : array_like, shape (m, s) or (m, s, n)
        Scores of s systems by m metrics, overall or on each of n instances; finite,
        higher being better. Pairs are pairs of systems, on the same instance.

    Returns
    -------
    ndarray, shape (m, m)
        In [0, 1], 0 on the diagonal. A tie of one metric that the other breaks counts
        as not alike. All 0 for fewer than two systems.

    Raises
    ------
    ValueError
        When a score is not finite or the shape is another.

    References
    ----------
    Kocmi et al. (2021), To Ship or Not to Ship, WMT, section 5.1 (disagreement of
    metrics); it is one minus pairwise accuracy with a metric in people's place.

    Examples
    --------
    >>> disagreement([[1, 2, 3], [1, 3, 2], [3, 2, 1]]).round(2).tolist()
    [[0.0, 0.33, 1.0], [0.33, 0.0, 0.67], [1.0, 0.67, 0.0]]
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim == 2:
        table = table[:, :, None]
    if table.ndim != 3:
        raise ValueError("The scores must be metrics by systems, or by instances too.")
    if not np.isfinite(table).all():
        raise ValueError("Each metric needs a finite score for each output.")
    n_metrics, n_systems, n = table.shape
    first, second = np.triu_indices(n_systems, k=1)
    alike = np.zeros((n_metrics, n_metrics))
    if not len(first) or not n:
        return alike
    at_once = max(1, _CHUNK_SIGNS // (n_metrics * len(first)))
    for start in range(0, n, at_once):
        part = table[:, :, start : start + at_once]
        signs = np.sign(part[:, first] - part[:, second]).reshape(n_metrics, -1)
        # single precision counts exactly up to 16 million, more than there are
        for sign in (-1.0, 0.0, 1.0):
            has_sign = (signs == sign).astype(np.float32)
            alike += has_sign @ has_sign.T
    shares: Floats = 1 - alike / (len(first) * n)
    np.fill_diagonal(shares, 0.0)
    return shares
