"""A mean of people's ratings with a judge's help, for any assignment of instances.

The judge's part is fitted and used on different instances (cross-fitting),
and its errors are weighted by the inverse probability that an instance was shown to
people: the efficient influence function of a mean with ratings missing by design. A
judge without predictive value is left out.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.stats.clustered import factor_codes, multiway_variance
from leaderboard.stats.intervals import Floats, as_ratings

Ints = npt.NDArray[np.intp]
# shapes of people's ratings given a judge's scores: none, straight, bent once
_DEGREES = (0, 1, 2)
# beyond this many standard deviations a bent line is constant
_REACH = 3.0
_FEWEST = 20

# parts that are left out in turn
_FOLDS = 5


@dataclass(frozen=True)
class JudgedMean:
    """The plain mean and the one with the judge's help; shown together.

    Parameters
    ----------
    helped, plain : Interval
        With the judge, and from people's ratings alone.
    explained : float
        Share of the variance between rated instances that the judge predicted on
        instances it had not been fitted to; 0 if it was left out.
    n_people, n_judge : int
        Instances that people rated, and that the judge scored.
    labels_saved : float
        How many more instances people would have had to rate for the same precision;
        negative if the judge adds more uncertainty than it removes.
    """

    helped: Interval
    plain: Interval
    explained: float
    n_people: int
    n_judge: int
    labels_saved: float
    # the judge's forecast of people's mean, for every instance; None: left out
    foretold: Floats | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Design:
    """The assignment of ratings, and the weights of rated instances.

    Parameters
    ----------
    ratings : ndarray, shape (r,)
    worker, instance : ndarray of int, shape (r,)
        Codes of the worker, and of the instance as a place in `rated`.
    rated : ndarray of int, shape (i,)
        Places of the rated instances among all.
    means : ndarray, shape (i,)
        Of each instance's ratings.
    parts : ndarray, shape (r,)
        Weight of a rating within its instance; each instance's sum is 1.
    weights : ndarray, shape (i,)
        Weight of an instance; the sum is 1.
    n_all : int
        Number of all instances.
    """

    ratings: Floats
    worker: Ints
    instance: Ints
    rated: Ints
    means: Floats
    parts: Floats
    weights: Floats
    n_all: int


@dataclass(frozen=True)
class Influence:
    """A helped mean, and the influence of each rating and each instance.

    Parameters
    ----------
    moves : ndarray, shape (r,)
        Of each rating: its contribution to the estimate beyond its expectation.
    apart : ndarray, shape (m,)
        Of each instance: the distance of its forecast from the mean, over m.
    """

    estimate: float
    moves: Floats
    apart: Floats


def judged_mean(
    values: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    judged: npt.ArrayLike,
    *,
    seed: int,
    weights: npt.ArrayLike | None = None,
) -> JudgedMean:
    """Estimate people's mean rating over all instances that judges scored.

    Parameters
    ----------
    values, workers : array_like, shape (r,)
        People's ratings and their workers.
    instances : array_like of int, shape (r,)
        Row of `judged` of each rating.
    judged : array_like, shape (m,) or (m, k)
        Scores of one or k judges for all m instances, on any scale.
    weights : array_like, shape (r,), optional
        Weight of each rating among those of its instance, above 0; equal if
        not given.

    Returns
    -------
    JudgedMean
        Intervals cover other workers and instances. With fewer than 20 instances rated
        by people, it is the plain mean.

    Raises
    ------
    ValueError
        On no ratings, numbers that are not finite, places outside of `judged`, fewer
        than two workers or instances rated, or a weight that is not above 0.

    Notes
    -----
    With m(f) people's mean given the judges' scores, fitted without the instance's fold,
    the estimate is mean m + the mean of y - m over rated instances. m is constant,
    straight or bent once in each score, by the best prediction. Errors are those of
    the influence function, clustered by worker and by instance.

    References
    ----------
    Robins, Rotnitzky and Zhao (1994), JASA 89, section 2 (efficient influence function);
    Chernozhukov et al. (2018), Econometrics Journal 21, section 3 (cross-fitting);
    Cameron, Gelbach and Miller (2011), JBES 29(2) (two-way clusters).
    """
    scores = _scores(judged)
    design = design_of(values, workers, instances, len(scores), weights=weights)
    plain, plain_variance = _interval(design, np.zeros(len(scores)))
    foretold, explained = _foretold(design, scores, _FOLDS, seed)
    helped, saved, used = plain, 0.0, None
    if explained > 0:
        used = foretold
        helped, variance = _interval(design, foretold)
        if variance > 0:
            saved = len(design.rated) * (plain_variance / variance - 1)
    n_rated = len(design.rated)
    return JudgedMean(helped, plain, explained, n_rated, len(scores), saved, used)


def _scores(judged: npt.ArrayLike) -> Floats:
    scores = np.asarray(judged, dtype=np.float64)
    scores = scores[:, None] if scores.ndim == 1 else scores
    if scores.ndim != 2 or not np.isfinite(scores).all():
        raise ValueError("Judges need one finite score for every instance.")
    return scores


def design_of(
    values: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    n_all: int,
    *,
    weights: npt.ArrayLike | None = None,
) -> Design:
    """Return the design of people's ratings; see `judged_mean`.

    Parameters
    ----------
    values, workers, instances : array_like, shape (r,)
    weights : array_like, shape (r,), optional

    Examples
    --------
    >>> design_of([1, 2, 4], ["a", "b", "a"], [0, 0, 3], 5).means.tolist()
    [1.5, 4.0]
    """
    ratings = as_ratings(values)
    place = np.asarray(instances)
    if place.min() < 0 or place.max() >= n_all:
        raise ValueError("A rated instance has no score by a judge.")
    rated, own = np.unique(place, return_inverse=True)
    worker, n_workers = factor_codes({"worker": workers}, len(ratings))["worker"]
    if n_workers < 2 or len(rated) < 2:
        raise ValueError("At least two workers and two instances are needed.")
    count = np.ones(len(ratings)) if weights is None else np.asarray(weights, float)
    if count.shape != ratings.shape or not ((count > 0) & np.isfinite(count)).all():
        raise ValueError("Every rating needs a weight above 0.")
    parts = count / np.bincount(own, count)[own]
    means: Floats = np.bincount(own, parts * ratings).astype(np.float64)
    chances = np.full(len(rated), 1 / len(rated))
    return Design(ratings, worker, own, rated, means, parts, chances, n_all)


def influence_of(design: Design, foretold: Floats) -> Influence:
    """Estimate people's mean with a forecast, and the influences on it.

    Parameters
    ----------
    foretold : ndarray, shape (m,)
        For every instance; equal values result in the plain mean.

    Examples
    --------
    >>> design = design_of([1, 2, 4], ["a", "b", "a"], [0, 0, 1], 3)
    >>> influence_of(design, np.array([1.0, 4.0, 7.0])).estimate
    4.25
    """
    own = design.instance
    level = foretold.mean()
    correction = float(design.weights @ (design.means - foretold[design.rated]))
    # each rating's influence on the estimate, as if the estimate were their mean
    share = design.weights[own] * design.parts
    moves = share * (design.ratings - foretold[design.rated][own] - correction)
    apart = (foretold - level) / design.n_all
    moves += apart[design.rated][own] * design.parts
    return Influence(float(level + correction), moves - moves.mean(), apart)


def _interval(design: Design, foretold: Floats) -> tuple[Interval, float]:
    from scipy import special

    found, n = influence_of(design, foretold), len(design.ratings)
    n_workers = int(design.worker.max()) + 1
    factors = [(design.worker, n_workers), (design.instance, len(design.rated))]
    variance, _ = multiway_variance(n * found.moves, factors)
    elsewhere = np.ones(design.n_all, dtype=np.bool_)
    elsewhere[design.rated] = False
    drawn = float((found.apart[elsewhere] ** 2).sum())
    total = variance + drawn
    freedom = _freedom(design, found.moves)
    if total > 0 and drawn > 0:
        others = max(int(elsewhere.sum()) - 1, 1)
        freedom = total**2 / (variance**2 / freedom + drawn**2 / others)
    reach = float(special.stdtrit(freedom, 0.975)) * total**0.5
    low, high = found.estimate - reach, found.estimate + reach
    return Interval(found.estimate, low, high), total


def _freedom(design: Design, moves: Floats) -> float:
    """Return degrees of freedom over workers and instances (Satterthwaite).

    The noise of single ratings counts with the rarer of the two: a few workers who
    rate each instance once have few degrees of freedom.
    """
    share = design.weights[design.instance] * design.parts
    cells = design.worker * len(design.rated) + design.instance
    _, cell = np.unique(cells, return_inverse=True)
    noise = float((np.bincount(cell, moves) ** 2).sum())
    levels = sorted(
        (1 / float((np.bincount(factor, share) ** 2).sum()) - 1, factor.tolist())
        for factor in (design.worker, design.instance)
    )
    (few, rarer), (many, other) = levels
    most = float((np.bincount(rarer, moves) ** 2).sum())
    beyond = max(float((np.bincount(other, moves) ** 2).sum()) - noise, 0.0)
    if most + beyond <= 0:
        return 1.0
    spread = most**2 / max(few, 1.0) + beyond**2 / max(many, 1.0)
    return max(1.0, (most + beyond) ** 2 / spread)


def _foretold(
    design: Design, scores: Floats, folds: int, seed: int
) -> tuple[Floats, float]:
    n = len(design.rated)
    spread = scores.std(axis=0)
    varies = spread > 1e-12 * np.maximum(np.abs(scores).max(axis=0), 1e-300)
    if n < _FEWEST or not varies.any():
        return np.zeros(design.n_all), 0.0
    unit = (scores[:, varies] - scores[:, varies].mean(axis=0)) / spread[varies]
    unit = np.clip(unit, -_REACH, _REACH)
    fold = np.random.default_rng(seed).permutation(n) % folds
    found = [_cross_fitted(design, unit, degree, fold) for degree in _DEGREES]
    losses = [
        float(design.weights @ (design.means - each[design.rated]) ** 2)
        for each in found
    ]
    best = int(np.argmin(losses))
    if losses[0] <= 0:
        return found[0], 0.0
    return found[best], 1 - losses[best] / losses[0]


def _cross_fitted(design: Design, unit: Floats, degree: int, fold: Ints) -> Floats:
    basis = np.hstack(
        [np.ones((len(unit), 1)), *(unit**power for power in range(1, degree + 1))]
    )
    root = np.sqrt(design.weights)
    here = basis[design.rated]
    everywhere = np.zeros(len(unit))
    left_out = np.empty(len(fold))
    folds = np.unique(fold)
    for number in folds:
        kept = fold != number
        fitted = np.linalg.lstsq(
            here[kept] * root[kept, None], design.means[kept] * root[kept], rcond=1e-10
        )[0]
        left_out[~kept] = here[~kept] @ fitted
        everywhere += basis @ fitted / len(folds)
    everywhere[design.rated] = left_out
    return everywhere
