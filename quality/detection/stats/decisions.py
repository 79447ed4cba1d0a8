"""From posteriors to bans, and how many bans are wrong."""

import numpy as np
import numpy.typing as npt

from quality.counts import Floats
from quality.detection.stats.fitted_detector import Bools

#: Among those excluded together, at most this share is expected to be careful.
FALSE_DISCOVERIES = 0.005


def _probabilities(p_noisy: npt.ArrayLike) -> Floats:
    p = np.atleast_1d(np.asarray(p_noisy, dtype=np.float64))
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("Posteriors must be one row of probabilities.")
    return p


def control_false_discoveries(
    p_noisy: npt.ArrayLike, level: float = 0.01, *, least: float = 0.5
) -> Bools:
    """Ban as many workers as keep the expected share of wrong bans within `level`.

    Parameters
    ----------
    p_noisy : array_like of float, shape (n_workers,)
        Posterior probabilities.
    level : float, default 0.01
        Largest expected share of good workers among the banned, 0 <= level < 1.
    least : float, default 0.5
        Workers at or below this posterior are never banned, however sure the others
        are: a share over the pool does not describe one person. 0 <= least < 1.

    Returns
    -------
    ndarray of bool, shape (n_workers,)
        Who is banned; workers with equal posteriors are treated alike.

    References
    ----------
    P. Müller, G. Parmigiani, C. Robert and J. Rousseau, "Optimal sample size for
    multiple testing", JASA 99 (2004), section 2: among all rules with this posterior
    false discovery rate, thresholding the posterior misses the fewest.

    Examples
    --------
    >>> control_false_discoveries([1.0, 0.99, 0.97, 0.4], 0.015).tolist()
    [True, True, True, False]
    >>> control_false_discoveries([0.97], 0.015).tolist()
    [False]
    """
    if not 0 <= level < 1 or not 0 <= least < 1:
        raise ValueError("The level and the least posterior must be in [0, 1).")
    p = _probabilities(p_noisy)
    falling = np.sort(p[p > least])[::-1]
    share = np.cumsum(1 - falling) / np.arange(1, falling.size + 1)
    last_of_equals = np.append(falling[1:] != falling[:-1], True)[: falling.size]
    # A share that equals the level is allowed despite rounding.
    allowed = falling[last_of_equals & (share <= level + 1e-12)]
    return p >= allowed[-1] if allowed.size else np.zeros(p.size, dtype=bool)


def excluded_by(p_careless: npt.ArrayLike, threshold: float) -> Bools:
    """Return whom to exclude: as many as keep the expected share of careful ones small.

    Examples
    --------
    >>> excluded_by([0.999, 0.995, 0.9901, 0.5], 0.99).tolist()
    [True, True, False, False]
    """
    least = np.asarray(p_careless) > threshold
    kept = control_false_discoveries(p_careless, FALSE_DISCOVERIES, least=threshold)
    return np.asarray(least & np.asarray(kept))
