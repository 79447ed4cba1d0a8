"""How carefully each worker of a pool answers, from all of their answers.

Evidence is a worker's agreement with others about the same content, test questions among
it, and what goes with it in this pool: use of the scale, time, sequence, company. Nothing
is presumed about how careless people answer.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from quality.counts import Floats, Ints
from quality.detection.stats.fitted_detector import Bools
from quality.detection.stats.workers import key as keys
from quality.detection.stats.workers import reading
from quality.detection.stats.workers.answers import (
    AssessOptions,
    Ratings,
    Tests,
    no_ratings,
)
from quality.detection.stats.workers.expected import as_items, expect, first_expected
from quality.detection.stats.workers.habits import company_of, habits_of, odds_of
from quality.detection.stats.workers.reading import Care, Crowd, Follows

#: This many ratings are worth about one test question.
_RATINGS_PER_TEST = 5
#: Staff are alerted if the content surely explains less than this share of what it
#: explains for careful people.
EXPLAINED = 0.85
_RESAMPLES, _SEED = 500, 37
#: A worker is excluded without a person only on evidence that a careful one shows with a
#: probability below this; in pools of fewer workers than these, which compare badly, also
#: by the key, on marks that any of them shows so seldom.
HARM, LEAST_WORKERS = 0.001, 10
_SURE = -np.log(HARM)
#: Log-odds that an answered test question and a rating add, on the scales of our tasks,
#: between a careful and a careless worker.
_OF_TEST, _OF_RATING = 0.6, 0.08
#: Where so much evidence is expected of the careful (twice its log-odds), a rating counts
#: half only if the log-odds are beyond even by a part of the rest, and at most this.
_MUCH, _CAUTION, _MOST = 3.0, 1 / 5, 2.5

__all__ = [
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
        Probability of being careless now, from agreement and test questions alone.
    against : ndarray, shape (n_workers,)
        The log-odds of that, before the share of careless workers is considered.
    by_key : ndarray, shape (n_workers,)
        The same, from the marks of test questions alone.
    parts : dict of ndarray, shape (n_workers,)
        Log-odds of being careless that each kind of evidence alone adds.
    retired : ndarray of int
        Questions that careful workers fail.
    good_accuracy : ndarray, shape (n_kinds,)
        How often careful workers agree with the key.
    explained : Interval
        How much the content explains, as a share of what it explains for careful people.
    p_rating : ndarray, shape (n_ratings,)
        Probability that each rating was given without care, by all evidence; 0 in
        pools too small to tell.
    parameters : dict
        All estimates and presumptions, for JSON.
    """

    p_careless: Floats
    against: Floats
    by_key: Floats
    parts: dict[str, Floats]
    retired: Ints
    good_accuracy: Floats
    share_careless: Interval
    explained: Interval
    p_rating: Floats
    parameters: dict[str, Any]

    @property
    def alarm(self) -> bool:
        """Whether the crowd disagrees so much that a person has to look."""
        return self.enough and self.explained.high < EXPLAINED

    @property
    def enough(self) -> bool:
        """Whether the pool has enough workers to compare."""
        return int((self.against != 0).sum()) >= LEAST_WORKERS

    @property
    def surely(self) -> Bools:
        """Whom to exclude without a person: evidence beyond 1 in `HARM`.

        A ratio of likelihoods exceeds 1000 for a careful person with a probability below
        .001, however often one looks (J. Ville, 1939).
        """
        alone = self.by_key > _SURE + np.log(max(len(self.by_key), 1))
        return np.asarray((self.against > _SURE) & (self.enough | alone))


def can_tell(n_workers: int, n_tests: float, n_ratings: float) -> bool:
    """Check whether so many workers with so many answers each can be told apart.

    Examples
    --------
    >>> can_tell(6, 10, 90), can_tell(60, 6, 54), can_tell(60, 1, 9)
    (False, True, False)
    """
    evidence = _OF_TEST * n_tests + _OF_RATING * n_ratings
    return bool(n_workers >= LEAST_WORKERS and evidence >= _SURE)


def assess_workers(
    n_workers: int,
    tests: Tests,
    ratings: Ratings | None,
    *,
    options: AssessOptions,
    seed: int,
) -> Assessment:
    """Estimate how carefully each worker answers.

    Parameters
    ----------
    seed : int
        Stored with the result.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_tests
    >>> found = assess_workers(1, no_tests(), None, options=AssessOptions(), seed=0)
    >>> found.p_careless.round(2).tolist()
    [0.15]
    """
    rated = no_ratings() if ratings is None else ratings
    items = as_items(tests, rated, keys.direction(tests, options))
    habits = habits_of(items, n_workers)
    expected = first_expected(n_workers, items)
    # Begin with the key: most of a crowd may answer against it.
    expected.mean[:] += items.key
    careful, more = np.ones(len(items.row)), np.zeros(n_workers)
    of_tests = np.ones(len(tests.worker))
    good = keys.agreement(tests, 0 * of_tests, options)
    unvalued = np.isnan(tests.value)
    for _ in range(options.n_iterations):
        found = reading.by_worker(items, expected, n_workers)
        marks = keys.odds_of_marks(n_workers, tests, unvalued, good, options)
        crowd = reading.fit_crowd(found, marks + more, options)
        care = reading.care_of(items, expected, marks + more, crowd)
        careful, of_tests = care.answer, care.whole[tests.worker]
        company = company_of(items, expected.mean, care.whole)
        more = odds_of(np.column_stack([habits, company]), care.whole, found.n)
        expected = expect(items, careful, expected)
        good = keys.agreement(tests, of_tests, options)
    found = reading.by_worker(items, expected, n_workers)
    alone = reading.care_of(items, expected, marks, crowd)
    # The key alone errs about the strict and the lenient: it counts if the others do not
    # contradict it.
    by_key = -keys.odds_of_marks(n_workers, tests, unvalued | True, good, options)
    beyond = alone.against > _SURE / 2
    against = np.where(beyond, np.maximum(alone.against, by_key), alone.against)
    return Assessment(
        p_careless=_p_careless(against, crowd, n_workers, tests, rated, options),
        against=against,
        by_key=by_key,
        parts={
            **_parts(items, expected, n_workers, crowd, marks),
            "habits": -more,
        },
        retired=keys.retired_questions(tests, of_tests, good),
        good_accuracy=good,
        share_careless=Interval(
            1 - crowd.share, 1 - crowd.share_high, 1 - crowd.share_low
        ),
        explained=_share_explained(found, crowd, tests, good, options),
        p_rating=_p_rating(items.row, found, crowd, care, items.worker, tests, rated),
        parameters={
            "options": asdict(options),
            "seed": seed,
            "people": asdict(expected.spread),
            "crowd": asdict(crowd),
        },
    )


def _p_careless(
    against: Floats,
    crowd: Crowd,
    n_workers: int,
    tests: Tests,
    ratings: Ratings,
    options: AssessOptions,
) -> Floats:
    """Presume innocence, and limit the probability after few answers."""
    prior = min(1 - crowd.share, options.innocence)
    p = 1 / (1 + np.exp(-np.clip(against + np.log(prior / (1 - prior)), -50, 50)))
    evidence = np.bincount(tests.worker, minlength=n_workers)
    rated = np.bincount(ratings.worker, minlength=n_workers)
    little = evidence + rated / _RATINGS_PER_TEST < options.least
    return np.asarray(np.where(little, np.minimum(p, options.at_first), p))


def _parts(
    items: Any, expected: Any, n_workers: int, crowd: Crowd, marks: Floats
) -> dict[str, Floats]:
    parts = {}
    for name, chosen in (("tests", items.is_test), ("ratings", ~items.is_test)):
        own = replace(items, weight=items.weight * chosen)
        found = reading.by_worker(own, expected, n_workers)
        parts[name] = -reading.average_odds(found, crowd.slope, crowd.spread)
    parts["tests"] -= marks
    return parts


def _p_rating(
    row: Ints,
    found: Follows,
    crowd: Crowd,
    care: Care,
    worker: Ints,
    tests: Tests,
    ratings: Ratings,
) -> Floats:
    p = np.ones(len(tests.worker) + len(ratings.worker))
    expected = crowd.slope**2 * found.spread
    caution = np.exp(np.clip(_CAUTION * (expected - _MUCH), 0, _MOST))[worker]
    p[row] = care.answer / (care.answer + (1 - care.answer) * caution)
    if int((found.n > 0).sum()) < LEAST_WORKERS:
        p[:] = 1
    return np.clip(1 - p[len(tests.worker) :], 0, 1)


def _share_explained(
    found: Follows, crowd: Crowd, tests: Tests, good: Floats, options: AssessOptions
) -> Interval:
    """Compare correlations with those of careful people, resampling workers."""
    n_workers = len(found.n)
    only = np.isnan(tests.value)
    chance = np.array([own[0] for own in keys.guesses_of(tests, options)] or [0.0])
    kind, worker = tests.kind[only], tests.worker[only]
    gained = found.n * found.correlation
    gained += np.bincount(worker, tests.correct[only] - chance[kind], n_workers)
    due = found.n * reading.correlation_of(found, crowd)
    due += np.bincount(worker, good[kind] - chance[kind], n_workers)
    if not due.sum() > 0:
        return Interval(1.0, 0.0, 1.0)
    rng = np.random.default_rng(_SEED)
    even = np.full(n_workers, 1 / n_workers)
    drawn = rng.multinomial(n_workers, even, _RESAMPLES)
    ratios = (drawn @ gained) / np.maximum(drawn @ due, 1e-9)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return Interval(float(gained.sum() / due.sum()), float(low), float(high))


# From posteriors to bans, and how many bans are wrong.
#: Among those excluded together, at most this share is expected to be careful.
FALSE_DISCOVERIES = 0.005


def excluded_by(p_careless: npt.ArrayLike, threshold: float) -> Bools:
    """Return whom to exclude: as many as keep the expected share of careful ones small.

    Workers at or below the threshold never are, however sure the others are: a share
    over the pool does not describe one person. Equal posteriors are treated alike.

    References
    ----------
    P. Müller, G. Parmigiani, C. Robert and J. Rousseau, "Optimal sample size for
    multiple testing", JASA 99 (2004), section 2: among all rules with this posterior
    false discovery rate, thresholding the posterior misses the fewest.

    Examples
    --------
    >>> excluded_by([0.999, 0.995, 0.9901, 0.5], 0.99).tolist()
    [True, True, False, False]
    """
    p = np.asarray(p_careless, dtype=np.float64)
    falling = np.sort(p[p > threshold])[::-1]
    share = np.cumsum(1 - falling) / np.arange(1, falling.size + 1)
    last_of_equals = np.append(falling[1:] != falling[:-1], True)[: falling.size]
    # A share that equals the level is allowed despite rounding.
    allowed = falling[last_of_equals & (share <= FALSE_DISCOVERIES + 1e-12)]
    return p >= allowed[-1] if allowed.size else np.zeros(p.size, dtype=bool)
