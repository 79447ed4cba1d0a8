"""How much each rating counts: the probability that it was given with care, in steps."""

import numpy as np
import numpy.typing as npt

from quality.counts import Floats

#: Weights have steps, so that a score does not change with every answer.
STEP = 0.05
#: Workers whose ratings differ by more are weighted rating by rating, in steps as wide
#: as these, because each step is one more worker to the model of scores.
_TURN, _TURN_STEP = 0.3, 0.25


def rating_weights(worker: npt.ArrayLike, p_rating: npt.ArrayLike) -> Floats:
    """Return the weight of each rating.

    Returns
    -------
    ndarray, shape (n,)
        The same for all ratings of a worker, except workers who seem to have begun with
        care and then stopped: their earlier ratings keep their weight.

    Examples
    --------
    >>> rating_weights([0, 0, 1, 1], [0.02, 0.04, 0.0, 0.9]).tolist()
    [0.95, 0.95, 1.0, 0.0]
    """
    who = np.asarray(worker, dtype=np.int64)
    weight = 1 - np.asarray(p_rating, dtype=np.float64)
    if not len(who):
        return weight
    n = int(who.max()) + 1
    low, high = np.ones(n), np.zeros(n)
    np.minimum.at(low, who, weight)
    np.maximum.at(high, who, weight)
    mean = np.bincount(who, weight, n) / np.maximum(np.bincount(who, minlength=n), 1)
    turned = (high - low > _TURN)[who]
    return np.where(turned, steps(weight, _TURN_STEP), steps(mean, STEP)[who])


def steps(weight: Floats, step: float = STEP) -> Floats:
    """Round to steps.

    Examples
    --------
    >>> steps(np.array([0.96, 0.12])).tolist()
    [0.95, 0.1]
    """
    return np.round(np.round(weight / step) * step, 2)
