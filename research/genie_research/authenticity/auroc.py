"""Area under the ROC curve of a score, with its error."""

import numpy as np

from quality.counts import Floats


def auroc(suspects: Floats, others: Floats) -> tuple[float, float]:
    """Give the chance that a suspect's score is above another's, and its error.

    Ties count half. The error is that of DeLong's placement values; NaN where one of the
    groups has fewer than two scores.

    References
    ----------
    E. DeLong, D. DeLong, D. Clarke-Pearson, Biometrics 44 (1988).

    Examples
    --------
    >>> area, error = auroc(np.array([3.0, 4, 5]), np.array([1.0, 2, 3.5, 0]))
    >>> round(area, 4), round(error, 3)
    (0.9167, 0.118)
    """
    if not suspects.size or not others.size:
        return float("nan"), float("nan")
    above = _placements(suspects, others)
    below = 1 - _placements(others, suspects)
    if min(suspects.size, others.size) < 2:
        return float(above.mean()), float("nan")
    variance = above.var(ddof=1) / above.size + below.var(ddof=1) / below.size
    return float(above.mean()), float(np.sqrt(variance))


def _placements(scores: Floats, among: Floats) -> Floats:
    """Give the share of `among` below each score; ties count half."""
    ordered = np.sort(among)
    left = np.searchsorted(ordered, scores, "left")
    right = np.searchsorted(ordered, scores, "right")
    return np.asarray((left + right) / 2 / among.size)
