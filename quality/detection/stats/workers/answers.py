"""Workers' answers: test questions and real items, sorted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.fitted_detector import Bools


@dataclass(frozen=True)
class Tests:
    """Answered test questions, each worker's in the order of answering.

    Attributes
    ----------
    worker, question, kind : ndarray of int, shape (n_tests,)
        The kind of a question is polarity x criterion x kind of edit.
    correct : ndarray of bool, shape (n_tests,)
    order : ndarray of int, shape (n_tests,), optional
        Places among all answers of the worker; without it tests come first.
    value : ndarray of float, shape (n_tests,), optional
        The rating that was given, in [0, 1]; NaN if there is none, or no ends.
    instance, criterion : ndarray of int, shape (n_tests,), optional
        Those of the intact text, numbered as in the ratings.
    seconds : ndarray of float, shape (n_tests,), optional
        Active time; NaN if unknown.
    """

    __test__ = False  # not a case of pytest's

    worker: Ints
    question: Ints
    kind: Ints
    correct: Bools
    order: Any = None
    value: Any = None
    instance: Any = None
    criterion: Any = None
    seconds: Any = None

    def __post_init__(self) -> None:
        unknown = np.full(len(self.worker), np.nan)
        _fill(
            self,
            order=0 * self.worker,
            value=unknown,
            # far from those of ratings
            instance=10**9 + self.question,
            criterion=0 * self.kind,
            seconds=unknown,
        )


@dataclass(frozen=True)
class Ratings:
    """Ratings of real items, each worker's in the order of answering.

    Attributes
    ----------
    worker, item, system, instance, criterion : ndarray of int, shape (n_ratings,)
        An item is an output that was rated: a system's on an instance.
    value : ndarray of float, shape (n_ratings,)
        In [0, 1].
    order, seconds : ndarray, shape (n_ratings,), optional
        As in :class:`Tests`.
    """

    worker: Ints
    item: Ints
    system: Ints
    instance: Ints
    criterion: Ints
    value: Floats
    order: Any = None
    seconds: Any = None

    def __post_init__(self) -> None:
        n = len(self.worker)
        _fill(self, order=np.arange(n), seconds=np.full(n, np.nan))


def _fill(table: Tests | Ratings, **otherwise: Any) -> None:
    for name, column in otherwise.items():
        if getattr(table, name) is None:
            object.__setattr__(table, name, column)


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


#: Accuracy on negative and positive questions: at random, always good, always bad.
NO_YES = ((0.5, 0.0, 1.0), (0.5, 1.0, 0.0))


@dataclass(frozen=True)
class AssessOptions:
    """Presumptions of :func:`quality.detection.stats.assess.assess_workers`.

    Attributes
    ----------
    share_careless : float, default 0.2
        Expected share of each pool that is careless, worth `strength` workers.
    innocence : float, default 0.3
        Upper limit of the prior probability of being careless, however bad the pool.
    accuracy : float, default 0.85
        Expected agreement of careful people with the key.
    guesses : tuple of tuple of float, optional
        For each kind of question, the probability of a right answer without reading: at
        random, then by each habit (always good, always bad, always the first output).
        Without it all are 1/2.
    least, at_first : float, default 3.0, 0.9
        With fewer than `least` test questions, or five times as many ratings, the
        probability of being careless is at most `at_first`.
    """

    share_careless: float = 0.2
    strength: float = 10.0
    innocence: float = 0.3
    accuracy: float = 0.85
    guesses: tuple[tuple[float, ...], ...] = ()
    least: float = 3.0
    at_first: float = 0.9
    n_iterations: int = 6
