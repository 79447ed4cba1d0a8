"""Expected ratings of items, from other workers' answers about the same content.

A rating is predicted by its system, its instance and its output. Test questions are
items, too: each kind of them is a system, and an edited text keeps its instance, so that
it is compared with other workers' ratings of the intact text.
"""

from dataclasses import dataclass

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.fitted_detector import Bools
from quality.detection.stats.workers.answers import Ratings, Tests

#: How much above or below the others a test question is expected by its key, and the
#: variance between kinds of them: an edited text may be far below all others.
_BY_KEY, _KINDS = 0.3, 0.1


@dataclass(frozen=True)
class Items:
    """Answers with values as numbered columns, each worker's in the order of answering.

    Attributes
    ----------
    row : ndarray of int, shape (n,)
        Place among the tests, and after them the ratings, as they were given.
    groups : list of tuple of ndarray
        Systems, instances and outputs, each within its criterion: the group of each
        answer, and its pair of group and worker.
    weight : ndarray, shape (n,)
        One over the number of criteria that a worker answered about an output.
    key : ndarray, shape (n,)
        How much above the others an answer is expected by the key.
    """

    row: Ints
    worker: Ints
    value: Floats
    seconds: Floats
    is_test: Bools
    groups: list[tuple[Ints, Ints]]
    weight: Floats
    key: Floats


def as_items(tests: Tests, ratings: Ratings, direction: Floats) -> Items:
    """Combine tests whose answers have values with the ratings.

    Parameters
    ----------
    direction : ndarray, shape (n_tests,)
        1 if the right answer is high, -1 if it is low.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_ratings, no_tests
    >>> len(as_items(no_tests(), no_ratings(), np.zeros(0)).value)
    0
    """
    kept = np.flatnonzero(~np.isnan(tests.value))
    worker = _join(tests.worker[kept], ratings.worker)
    item = _join(tests.question[kept], ratings.item, apart=True)
    instance = _join(tests.instance[kept], ratings.instance)
    system = _join(tests.kind[kept], ratings.system, apart=True)
    criterion = _join(tests.criterion[kept], ratings.criterion)
    order = np.concatenate([tests.order[kept], ratings.order])
    row = np.concatenate([kept, len(tests.worker) + np.arange(len(ratings.worker))])
    sort = np.lexsort((row, order, worker))
    groups = []
    for column in (system, instance, item):
        group = _pairs(column, criterion)[sort]
        groups.append((group, _pairs(group, worker[sort])))
    look = _pairs(item, worker)[sort]
    return Items(
        row[sort],
        worker[sort],
        np.concatenate([tests.value[kept], ratings.value])[sort],
        np.concatenate([tests.seconds[kept], ratings.seconds])[sort],
        (np.arange(len(row)) < len(kept))[sort],
        groups,
        1 / np.bincount(look)[look] if len(look) else np.zeros(0),
        _BY_KEY * np.concatenate([direction[kept], 0 * ratings.value])[sort],
    )


def _join(tests: Ints, ratings: Ints, *, apart: bool = False) -> Ints:
    """Join two columns; numbers of tests and ratings may mean different things."""
    shift = int(ratings.max(initial=-1)) + 1 if apart else 0
    return np.concatenate([tests + shift, ratings]).astype(np.int64)


def _pairs(a: Ints, b: Ints) -> Ints:
    number = np.zeros(len(a), dtype=np.int64)
    if len(a):
        number[:] = np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1]
    return number


@dataclass(frozen=True)
class Spread:
    """Variances of careful people's ratings, on a scale from 0 to 1.

    Attributes
    ----------
    noise, leniency, system, instance, output : float
        Of single ratings, between workers, systems, instances and outputs.
    """

    noise: float
    leniency: float
    system: float
    instance: float
    output: float


PEOPLE = Spread(0.055, 0.01, 0.01, 0.01, 0.003)


@dataclass(frozen=True)
class Expected:
    """The expected rating of each item, from other workers.

    Attributes
    ----------
    mean : ndarray, shape (n,)
    variance : float
        Of the expectation, on average.
    leniency : ndarray, shape (n_workers,)
    center : float
        Expected of careful people's ratings, on average.
    """

    mean: Floats
    variance: float
    spread: Spread
    leniency: Floats
    center: float = 0.5

    @property
    def level(self) -> float:
        """How many answers tell as much about a worker's level as what people share."""
        return self.spread.noise / self.spread.leniency


def expect(items: Items, share: Floats, before: Expected) -> Expected:
    """Estimate careful people's rating of each item.

    Parameters
    ----------
    share : ndarray, shape (n,)
        Probability that each answer was given with care.
    before : Expected
        The last round's, for leniency and variances.

    Returns
    -------
    Expected
        Each rating is predicted from other workers' ratings only.

    References
    ----------
    C. Henderson, Biometrics 31 (1975), 423-447 (prediction of effects, one level after
    the other); C. R. Henderson, Biometrics 9 (1953), method 1 (variances from products).
    """
    spread, total = before.spread, float(share.sum())
    rest = items.value - before.leniency[items.worker]
    center = 0.5 if total < 1 else float(share @ (rest - items.key)) / total
    mean = items.key + center
    variance, variances = 0.0, []
    of_outputs = np.where(items.is_test, 0.0, share)
    for level, ((group, own), usual) in enumerate(
        zip(items.groups, (spread.system, spread.instance, spread.output), strict=True)
    ):
        left = rest - mean
        counted = share if level else of_outputs
        variances.append(_between(left, counted, group, own, usual))
        prior = usual if level else np.where(items.is_test, _KINDS, usual)
        ratio = spread.noise / prior
        top = (
            np.bincount(group, share * left)[group]
            - np.bincount(own, share * left)[own]
        )
        n = np.bincount(group, share)[group] - np.bincount(own, share)[own]
        mean = mean + top / (n + ratio)
        if total > 0:
            variance += float(share @ (prior * ratio / (n + ratio))) / total
    left = items.value - mean
    leniency, between = _leniency(items, left, share, before)
    squares = share * (left - leniency[items.worker]) ** 2
    noise = (squares.sum() + 20 * before.spread.noise) / (total + 20) - variance
    return Expected(
        np.asarray(mean, dtype=np.float64),
        variance,
        Spread(max(float(noise), 0.004), between, *variances),
        leniency,
        center,
    )


def _between(
    left: Floats, share: Floats, group: Ints, own: Ints, prior: float
) -> float:
    both = (np.bincount(group, share * left) ** 2).sum()
    both -= (np.bincount(own, share * left) ** 2).sum()
    n = (np.bincount(group, share) ** 2).sum() - (np.bincount(own, share) ** 2).sum()
    # A prior worth a hundred pairs.
    return float(np.clip((both + 100 * prior) / (n + 100), 1e-4, 0.1))


def _leniency(
    items: Items, left: Floats, share: Floats, before: Expected
) -> tuple[Floats, float]:
    n_workers, spread = len(before.leniency), before.spread
    n = np.bincount(items.worker, share, n_workers)
    ratio = (spread.noise + before.variance) / spread.leniency
    found = np.bincount(items.worker, share * left, n_workers) / (n + ratio)
    error = spread.leniency * ratio / (n + ratio)
    rated = np.bincount(items.worker, minlength=n_workers)
    member = np.minimum(n / np.maximum(rated, 1), 1)
    squares = member @ (found**2 + error) + 5 * PEOPLE.leniency
    return found, float(np.clip(squares / (member.sum() + 5), 1e-3, 0.06))


def first_expected(n_workers: int, items: Items) -> Expected:
    """Return a start for people from the plain means of items.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_ratings, no_tests
    >>> first_expected(3, as_items(no_tests(), no_ratings(), np.zeros(0))).leniency.tolist()
    [0.0, 0.0, 0.0]
    """
    start = Expected(np.zeros(len(items.value)), 0.01, PEOPLE, np.zeros(n_workers))
    return expect(items, np.ones(len(items.value)), start)
