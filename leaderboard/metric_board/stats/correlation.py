"""Correlations of many rows at once."""

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats


def pearson_rows(x: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Compute Pearson's correlation along the last axis.

    Parameters
    ----------
    x, y : array_like, shapes (..., k) that broadcast
        Pairs with a NaN on either side are left out.

    Returns
    -------
    ndarray, shape (...)
        In [-1, 1]; NaN if a side does not vary or fewer than two pairs are left.

    References
    ----------
    Pearson (1895), Proceedings of the Royal Society 58.
    """
    a, b = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    w = np.where(np.isnan(a) | np.isnan(b), 0.0, 1.0)
    a, b = np.where(w > 0, a, 0.0), np.where(w > 0, b, 0.0)
    safe = np.maximum(w.sum(axis=-1, keepdims=True), 1e-300)
    da = a - (w * a).sum(axis=-1, keepdims=True) / safe
    db = b - (w * b).sum(axis=-1, keepdims=True) / safe
    saa, sbb = (w * da * da).sum(axis=-1), (w * db * db).sum(axis=-1)
    # rounding errors of constant values do not count as variation
    noise_a = (1e-13 * np.abs(a).max(axis=-1, initial=0)) ** 2 * safe[..., 0]
    noise_b = (1e-13 * np.abs(b).max(axis=-1, initial=0)) ** 2 * safe[..., 0]
    varies = (saa > noise_a) & (sbb > noise_b)
    root = np.sqrt(saa) * np.sqrt(sbb)
    r = np.divide(
        (w * da * db).sum(axis=-1), root, out=np.full(root.shape, np.nan), where=varies
    )
    return np.asarray(np.clip(r, -1.0, 1.0))


def rank_rows(x: npt.ArrayLike) -> Floats:
    """Rank along the last axis from 1 for the lowest; equal values share their mean rank.

    Parameters
    ----------
    x : array_like, shape (..., k)
        NaN stays NaN.

    Examples
    --------
    >>> rank_rows([5.0, 1.0, 5.0, float("nan")]).tolist()
    [2.5, 1.0, 2.5, nan]
    """
    from scipy import stats

    values = np.asarray(x, dtype=np.float64)
    absent = np.isnan(values)
    ranks: Floats = stats.rankdata(np.where(absent, np.inf, values), axis=-1)
    return np.where(absent, np.nan, ranks)


def spearman_rows(x: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Compute Spearman's correlation along the last axis; see `pearson_rows`.

    References
    ----------
    Spearman (1904), American Journal of Psychology 15.
    """
    a, b = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    absent = np.isnan(a) | np.isnan(b)
    return pearson_rows(
        rank_rows(np.where(absent, np.nan, a)), rank_rows(np.where(absent, np.nan, b))
    )
