"""The probability that each worker of a pool is careless, from all of their answers.

Two kinds of evidence are combined: test questions, whose key is estimated, too, and
ratings of real items beside other workers' ratings of the same items.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from quality.counts import Floats, Ints
from quality.detection.stats.fitted_detector import Bools
from quality.detection.stats.workers import key as keys
from quality.detection.stats.workers.answers import (
    CLASSES,
    AssessOptions,
    Ratings,
    Tests,
    check_answers,
    no_ratings,
)
from quality.detection.stats.workers.fitting import Fitted, fit_workers
from quality.detection.stats.workers.residuals import log_sum

#: This many ratings are worth about one test question.
_RATINGS_PER_TEST = 5

__all__ = [
    "CLASSES",
    "AssessOptions",
    "Assessment",
    "Ratings",
    "Tests",
    "assess_workers",
]


@dataclass(frozen=True)
class Assessment:
    """The estimates about a pool's workers.

    Attributes
    ----------
    p_careless : ndarray, shape (n_workers,)
        Probability of being careless now. Answers that vary less than people's count
        only in proportion to the evidence of ratings.
    p_class : ndarray, shape (n_workers, n_classes)
        Probability of each of `classes`.
    parts : dict of ndarray, shape (n_workers,)
        Log-odds of being careless that each kind of evidence alone adds: tests,
        ratings, order (a change in the middle).
    question_difficulty : ndarray, shape (n_questions,)
        Logits above the mean of the question's kind.
    retired : ndarray of int
        Questions that careful workers fail.
    good_accuracy : ndarray, shape (n_kinds,)
        How often careful workers agree with the key.
    p_rating : ndarray, shape (n_ratings,)
        Probability that each rating was given without care, with the pool's estimated
        share of careless workers as the prior, however high it is.
    parameters : dict
        All estimates and presumptions, for JSON.
    """

    p_careless: Floats
    p_class: Floats
    classes: tuple[str, ...]
    parts: dict[str, Floats]
    question_difficulty: Floats
    retired: Ints
    good_accuracy: Floats
    share_careless: Interval
    p_rating: Floats
    parameters: dict[str, Any]


def assess_workers(
    n_workers: int,
    tests: Tests,
    ratings: Ratings | None,
    *,
    options: AssessOptions,
    seed: int,
) -> Assessment:
    """Estimate the probability that each worker is careless.

    Parameters
    ----------
    seed : int
        Stored with the result; nothing is random.

    References
    ----------
    See :func:`quality.detection.stats.workers.fitting.fit_workers`.
    """
    rated = no_ratings() if ratings is None else ratings
    check_answers(n_workers, tests, rated)
    fitted = fit_workers(n_workers, tests, rated, options)
    return assessment_of(fitted, tests, options, seed=seed)


def assessment_of(
    fitted: Fitted, tests: Tests, options: AssessOptions, *, seed: int = 0
) -> Assessment:
    """Assess the workers from a fit; see :func:`assess_workers`.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_tests
    >>> fitted = fit_workers(1, no_tests(), no_ratings(), AssessOptions())
    >>> assessment_of(fitted, no_tests(), AssessOptions()).p_careless.round(2).tolist()
    [0.09]
    """
    p_class = fitted.posterior(options.innocence)
    # Innocence is presumed of people when they may be stopped; a rating of a bad crowd
    # does not count for more because of it
    kept = fitted.careful(fitted.posterior())
    # Only ratings can vary too little. Without such evidence the prior of the narrow
    # class does not count against a worker.
    column, ratings = CLASSES.index("narrow"), fitted.parts["ratings"]
    odds = np.maximum(ratings[:, column] - ratings[:, 0], 0)
    careless = 1 - p_class[:, 0] - p_class[:, column] * np.exp(-odds)
    careful = kept[fitted.line.test]
    return Assessment(
        p_careless=_not_too_soon(np.clip(careless, 0, 1), fitted, tests, options),
        p_class=p_class,
        classes=CLASSES,
        parts=_parts(fitted),
        question_difficulty=fitted.key.difficulty,
        retired=keys.retired_questions(tests, careful, fitted.key, options),
        good_accuracy=keys.good_accuracy(fitted.key, options),
        share_careless=_share(fitted, options),
        p_rating=np.clip(1 - kept[fitted.line.rating], 0, 1),
        parameters=_parameters(fitted, options, seed),
    )


def _not_too_soon(
    careless: Floats, fitted: Fitted, tests: Tests, options: AssessOptions
) -> Floats:
    """Limit the probability after few answers: the models are not that exact."""
    tested = np.bincount(tests.worker, minlength=len(careless))
    evidence = tested + (fitted.line.counts - tested) / _RATINGS_PER_TEST
    little = evidence < options.least
    return np.where(little, np.minimum(careless, options.at_first), careless)


def _parts(fitted: Fitted) -> dict[str, Floats]:
    bad = [i for i, name in enumerate(CLASSES) if name not in ("honest", "turning")]
    weights = np.log(fitted.shares[bad] / fitted.shares[bad].sum())
    parts = {
        name: log_sum(part[:, bad] + weights) - part[:, 0]
        for name, part in fitted.parts.items()
    }
    turning = fitted.turned.likelihood - fitted.likelihood[:, 0]
    parts["order"] = np.where(np.isfinite(turning), turning, 0.0)
    return parts


def _share(fitted: Fitted, options: AssessOptions) -> Interval:
    from scipy import special

    p = 1 - fitted.posterior()[fitted.line.counts > 0, 0]
    presumed = options.strength * options.share_careless
    bad = float(p.sum()) + presumed
    good = float((1 - p).sum()) + options.strength - presumed
    # Uncertainty about each worker widens the interval as fewer workers would.
    sampling = bad * good / (bad + good) ** 2 / (bad + good + 1)
    unsure = float((p * (1 - p)).sum()) / (bad + good) ** 2
    size = (bad + good) * sampling / (sampling + unsure)
    value = bad / (bad + good)
    low, high = special.betaincinv(
        value * size, (1 - value) * size, np.array([0.025, 0.975])
    )
    return Interval(value, float(low), float(high))


def _parameters(fitted: Fitted, options: AssessOptions, seed: int) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "options": asdict(options),
        "seed": seed,
        "rounds": fitted.n_rounds,
        "shares": dict(zip(CLASSES, fitted.shares.tolist(), strict=True)),
        "people": asdict(fitted.people.spread),
        "narrow": asdict(fitted.copied.spread),
        "guessing": fitted.key.guessing.tolist(),
    }


# From posteriors to bans, and how many bans are wrong.
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
