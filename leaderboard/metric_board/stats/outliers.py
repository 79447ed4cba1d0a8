"""Systems that decide a correlation by themselves, or lie off its line."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.pairs import as_groups
from leaderboard.stats.resampling import Floats

#: 1 / Phi^-1(3/4): makes the median absolute deviation a standard deviation if normal.
_MAD_TO_SD = 1.482602218505602


def robust_z(values: npt.ArrayLike) -> Floats:
    """Give how many robust standard deviations each value lies from the median.

    Parameters
    ----------
    values : array_like, shape (s,)
        NaN is left out and stays NaN.

    Returns
    -------
    ndarray, shape (s,)
        All 0 when more than half of the values are equal: nothing can be told then.

    References
    ----------
    Iglewicz and Hoaglin (1993), How to Detect and Handle Outliers, section 3.

    Examples
    --------
    >>> robust_z([1.0, 2.0, 3.0, 4.0, 30.0]).round(1).tolist()
    [-1.3, -0.7, 0.0, 0.7, 18.2]
    """
    array = np.asarray(values, dtype=np.float64)
    known = array[~np.isnan(array)]
    if not known.size:
        return array.copy()
    middle = float(np.median(known))
    spread = _MAD_TO_SD * float(np.median(np.abs(known - middle)))
    if spread == 0:
        return np.where(np.isnan(array), np.nan, 0.0)
    return np.asarray((array - middle) / spread)


def far_systems(human: npt.ArrayLike, *, limit: float = 2.5) -> list[int]:
    """Name systems so much better or worse than the rest that any metric sees it.

    Parameters
    ----------
    human : array_like, shape (s,)
        People's score of each system.
    limit : float
        Robust standard deviations.

    Returns
    -------
    list of int
        Positions. A correlation without them says whether the metric can do the part
        that is hard.

    References
    ----------
    Mathur, Baldwin and Cohn (2020), Tangled up in BLEU, ACL, section 4.1 (limit 2.5).

    Examples
    --------
    >>> far_systems([0.1, 0.2, 0.15, 0.12, -1.4])
    [4]
    """
    return [int(i) for i in np.flatnonzero(np.abs(robust_z(human)) > limit)]


def off_the_line(
    human: npt.ArrayLike, metric: npt.ArrayLike, *, limit: float = 2.5
) -> list[int]:
    """Name systems that a metric puts elsewhere than its line through all others.

    Parameters
    ----------
    human, metric : array_like, shape (s,)
        Scores of each system; NaN on people's side leaves a system out.
    limit : float
        Robust standard deviations of the residuals.

    Returns
    -------
    list of int
        Positions, farthest first. Empty for fewer than four systems.

    Raises
    ------
    ValueError
        See `leaderboard.metric_board.stats.pairs.as_groups`.

    References
    ----------
    Sen (1968), JASA 63, section 2 (the line: median slope of all pairs).

    Examples
    --------
    >>> off_the_line([1, 2, 3, 4, 5, 6], [1.1, 2, 2.9, 4.1, 5, 1.0])
    [5]
    """
    h, m = (rows[0] for rows in as_groups(human, metric))
    rated = np.flatnonzero(~np.isnan(h))
    if len(rated) < 4 or np.ptp(h[rated]) == 0:
        return []
    first, second = np.triu_indices(len(rated), k=1)
    run = h[rated][second] - h[rated][first]
    rise = m[rated][second] - m[rated][first]
    # Theil and Sen's slope: a least-squares line would follow the outlier it is to show
    slope = float(np.median(rise[run != 0] / run[run != 0]))
    z = np.abs(robust_z(m[rated] - slope * h[rated]))
    farthest = np.argsort(-z, kind="stable")
    return [int(rated[i]) for i in farthest if z[i] > limit]
