"""Workers' answers: test questions and real items, checked and sorted."""

from dataclasses import dataclass, fields

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.fitted_detector import Bools

#: Values with more levels than this (sliders) are binned into this many.
MOST_LEVELS = 21


@dataclass(frozen=True)
class Tests:
    """Answered test questions, each worker's in the order of answering.

    Attributes
    ----------
    worker, question, kind : ndarray of int, shape (n_tests,)
        The kind of a question is polarity x criterion x kind of edit.
    correct : ndarray of bool, shape (n_tests,)
    order : ndarray of int, shape (n_tests,), optional
        Places among all answers of the worker, so that tests and ratings can form one
        sequence; without it they are spread evenly.
    """

    __test__ = False  # not a case of pytest's

    worker: Ints
    question: Ints
    kind: Ints
    correct: Bools
    order: Ints | None = None


@dataclass(frozen=True)
class Ratings:
    """Ratings of real items, each worker's in the order of answering.

    Attributes
    ----------
    worker, item, system, instance, criterion : ndarray of int, shape (n_ratings,)
        An item is an output that was rated: a system's on an instance.
    value : ndarray of float, shape (n_ratings,)
        In [0, 1].
    order : ndarray of int, shape (n_ratings,), optional
        As in :class:`Tests`.
    """

    worker: Ints
    item: Ints
    system: Ints
    instance: Ints
    criterion: Ints
    value: Floats
    order: Ints | None = None


def no_tests() -> Tests:
    """Return an empty set of test questions.

    Examples
    --------
    >>> len(no_tests().worker)
    0
    """
    none = np.zeros(0, dtype=np.int64)
    return Tests(none, none, none, none.astype(bool))


def no_ratings() -> Ratings:
    """Return an empty set of ratings.

    Examples
    --------
    >>> len(no_ratings().value)
    0
    """
    none = np.zeros(0, dtype=np.int64)
    return Ratings(none, none, none, none, none, none.astype(np.float64))


def check_answers(n_workers: int, tests: Tests, ratings: Ratings) -> None:
    """Check that columns fit each other, workers are known and values in range.

    Examples
    --------
    >>> check_answers(0, no_tests(), no_ratings())
    """
    for name, table, first in (
        ("test", tests, tests.worker),
        ("rating", ratings, ratings.worker),
    ):
        for field in fields(table):
            column = getattr(table, field.name)
            if column is not None and np.shape(column) != (len(first),):
                raise ValueError(f"Every {name} needs one {field.name}.")
            if column is not None and field.name not in ("value", "correct"):
                _check_numbers(column, f"{field.name} of each {name}")
        if len(first) and first.max() >= n_workers:
            raise ValueError(f"A {name} belongs to a worker above {n_workers - 1}.")
    value = ratings.value
    if not ((value >= 0) & (value <= 1)).all():
        raise ValueError("Ratings must lie between 0 and 1.")


def _check_numbers(column: Ints, what: str) -> None:
    if len(column) and (column.dtype.kind not in "iu" or column.min() < 0):
        raise ValueError(f"The {what} must be a whole number from 0 on.")


@dataclass(frozen=True)
class Timeline:
    """All answers in one column, sorted by worker and then by time.

    Attributes
    ----------
    worker : ndarray of int, shape (n,)
    test, rating : ndarray of int
        Place of each test and each rating in the column.
    starts, counts : ndarray of int, shape (n_workers,)
        First place and number of a worker's answers.
    """

    worker: Ints
    test: Ints
    rating: Ints
    starts: Ints
    counts: Ints

    @property
    def n_workers(self) -> int:
        return len(self.counts)

    def __len__(self) -> int:
        return len(self.worker)


def timeline(n_workers: int, tests: Tests, ratings: Ratings) -> Timeline:
    """Sort tests and ratings of each worker into one order.

    Parameters
    ----------
    ratings : Ratings
        Without `order`, tests and ratings are spread evenly over a worker's answers.

    Examples
    --------
    >>> ones = np.zeros(1, dtype=np.int64)
    >>> tests = Tests(ones, ones, ones, ones == 0, order=ones + 7)
    >>> ratings = Ratings(ones, ones, ones, ones, ones, ones / 1.0, order=ones)
    >>> line = timeline(1, tests, ratings)
    >>> line.test.tolist(), line.rating.tolist()
    ([1], [0])
    """
    worker = np.concatenate([tests.worker, ratings.worker]).astype(np.int64)
    if tests.order is not None and ratings.order is not None:
        when = np.concatenate([tests.order, ratings.order]).astype(np.float64)
    else:
        when = np.concatenate(
            [_spread(tests.worker, n_workers), _spread(ratings.worker, n_workers)]
        )
    order = np.lexsort((np.arange(len(worker)), when, worker))
    place = np.empty(len(worker), dtype=np.int64)
    place[order] = np.arange(len(worker))
    counts = np.bincount(worker, minlength=n_workers).astype(np.int64)
    n_tests = len(tests.worker)
    return Timeline(
        worker[order],
        place[:n_tests],
        place[n_tests:],
        np.cumsum(counts) - counts,
        counts,
    )


def _spread(worker: Ints, n_workers: int) -> Floats:
    counts = np.bincount(worker, minlength=n_workers)
    order = np.argsort(worker, kind="stable")
    rank = np.empty(len(worker))
    rank[order] = np.arange(len(worker)) - (np.cumsum(counts) - counts)[worker[order]]
    return np.asarray((rank + 0.5) / np.maximum(counts[worker], 1), dtype=np.float64)


def as_levels(value: Floats) -> tuple[Ints, Floats]:
    """Return the level of each value and the positions of levels on the scale.

    Parameters
    ----------
    value : ndarray of float, shape (n,)
        In [0, 1].

    Returns
    -------
    tuple of ndarray
        Numbers of levels, and the values of the levels, evenly spaced from 0 to 1.

    Examples
    --------
    >>> level, places = as_levels(np.array([0, 0.25, 1.0]))
    >>> level.tolist(), places.tolist()
    ([0, 1, 4], [0.0, 0.25, 0.5, 0.75, 1.0])
    """
    for steps in range(1, MOST_LEVELS):
        if np.allclose(value * steps, np.rint(value * steps), atol=1e-6):
            break
    return np.rint(value * steps).astype(np.int64), np.linspace(0.0, 1.0, steps + 1)


# Prior assumptions about workers.
CLASSES = ("honest", "turning", "constant", "random", "inverted", "narrow")
CARELESS = ("constant", "random", "inverted")
#: Accuracy on negative and positive questions: at random, always bad, always good.
NO_YES = ((0.5, 1.0, 0.0), (0.5, 0.0, 1.0))


@dataclass(frozen=True)
class AssessOptions:
    """Presumptions of :func:`quality.detection.stats.assess.assess_workers`.

    Attributes
    ----------
    share_careless : float, default 0.15
        Expected share of each pool that is careless, worth `strength` workers.
    innocence : float, default 0.3
        Upper limit of the prior probability of being careless, however bad the
        pool; a worker with no answers is never above it.
    accuracy, accuracy_sd : float, default 0.85, 1.0
        Expected agreement of careful people with the key, and its spread between kinds
        of questions in logits.
    question_sd, worker_sd : float, default 1.0, 0.5
        Spread, in logits, of questions of a kind and of careful workers.
    guesses : tuple of tuple of float, optional
        For each kind of question, the probability of a right answer without reading: at
        random, then by each habit (always good, always bad, always the first output).
        Without it all are 1/2.
    least, at_first : float, default 3.0, 0.9
        With fewer than `least` test questions, or five times as many ratings, the
        probability of being careless is at most `at_first`.
    tolerance : float, default 1e-3
        The fit ends when no probability changes by more.
    """

    share_careless: float = 0.15
    strength: float = 10.0
    innocence: float = 0.3
    accuracy: float = 0.85
    accuracy_sd: float = 1.0
    question_sd: float = 1.0
    worker_sd: float = 0.5
    guesses: tuple[tuple[float, ...], ...] = ()
    least: float = 3.0
    at_first: float = 0.9
    n_iterations: int = 12
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("share_careless", "innocence", "accuracy", "at_first"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must lie between 0 and 1.")
        for name in ("strength", "accuracy_sd", "question_sd", "worker_sd"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive.")
        if self.n_iterations < 1:
            raise ValueError("Iterate at least once.")
