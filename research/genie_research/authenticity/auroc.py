"""Area under the ROC curve of a score, with its error."""

import numpy as np

from quality.counts import Floats


def auroc(suspects: Floats, others: Floats) -> tuple[float, float]:
    """Return the probability that a suspect's score is above another's, and its error.

    Ties count half. The error is that of DeLong's placement values; NaN if one of the
    groups has fewer than two scores.

    References
    ----------
    E. DeLong, D. DeLong, D. Clarke-Pearson, Biometrics 44 (1988).
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
    ordered = np.sort(among)
    left = np.searchsorted(ordered, scores, "left")
    right = np.searchsorted(ordered, scores, "right")
    return np.asarray((left + right) / 2 / among.size)
