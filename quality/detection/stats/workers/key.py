"""Marked answers to test questions: agreement with the key, and a key with errors."""

from collections.abc import Hashable

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.fitted_detector import Bools
from quality.detection.stats.schedule import EarlyStop
from quality.detection.stats.workers.answers import AssessOptions, Tests

#: Weight of the expected agreement with a kind of question, in answers.
_PRIOR = 10.0
#: Careful people agree with the key more often than not, over all kinds of a polarity:
#: a crowd most of whom answer against it, or always yes, is not careful for that.
_LEAST = 0.55
#: A question is retired when careful people are more often wrong than right, surely.
_RETIRE_BELOW, _RETIRE_SURE = 0.5, 0.95


def agreement(tests: Tests, careful: Floats, options: AssessOptions) -> Floats:
    """Return careful people's agreement with each kind of question.

    Parameters
    ----------
    careful : ndarray, shape (n_tests,)
        Probability that the answer was given with care.
    """
    guesses = guesses_of(tests, options)
    right = np.bincount(tests.kind, careful * tests.correct, len(guesses))
    asked = np.bincount(tests.kind, careful, len(guesses)) + _PRIOR
    good = np.asarray((right + _PRIOR * options.accuracy) / asked)
    for guess in set(guesses):
        alike = np.array([own == guess for own in guesses])
        good[alike] += max(_LEAST - np.average(good[alike], weights=asked[alike]), 0)
    return good


def direction(tests: Tests, options: AssessOptions) -> Floats:
    """Return for each answer whether "good" is right (1), wrong (-1) or neither (0)."""
    good = np.array([own[1] for own in guesses_of(tests, options)] or [0.5])
    return np.asarray(2 * good[tests.kind] - 1)


def guesses_of(tests: Tests, options: AssessOptions) -> list[tuple[float, ...]]:
    """Return the chances of right answers without reading.

    Examples
    --------
    >>> one = np.zeros(1, dtype=np.int64)
    >>> guesses_of(Tests(one, one, one, one == 0), AssessOptions())
    [(0.5, 0.5)]
    """
    n_kinds = int(tests.kind.max(initial=-1)) + 1
    guesses = options.guesses or ((0.5, 0.5),) * n_kinds
    return list(guesses)


def odds_of_marks(
    n_workers: int, tests: Tests, only: Bools, good: Floats, options: AssessOptions
) -> Floats:
    """Return the log-odds of care from the marks of some answers.

    Parameters
    ----------
    only : ndarray of bool, shape (n_tests,)
    good : ndarray, shape (n_kinds,)
        As :func:`agreement` returns it.
    """
    kinds = dict(enumerate(guesses_of(tests, options)))
    shape = (n_workers, max(len(kinds), 1))
    place = tests.worker[only] * shape[1] + tests.kind[only]
    size = shape[0] * shape[1]
    asked = np.bincount(place, minlength=size).reshape(shape).tolist()
    right = np.bincount(place[tests.correct[only]], minlength=size).reshape(shape)
    known: dict[Hashable, float] = dict(enumerate(good.tolist()))
    early = EarlyStop(good=known)
    odds = [
        -early.log_odds({kind: (own[kind], of[kind]) for kind in kinds}, kinds)
        for own, of in zip(right.tolist(), asked, strict=True)
    ]
    return np.array(odds, dtype=np.float64)


def retired_questions(tests: Tests, careful: Floats, good: Floats) -> Ints:
    """List the questions that careful people fail.

    Parameters
    ----------
    careful : ndarray, shape (n_tests,)
        Probability that the answer was given with care.
    good : ndarray, shape (n_kinds,)
        As :func:`agreement` returns it.

    Returns
    -------
    ndarray of int
        Questions on which careful people are more often wrong than right with a
        probability above .95, given a prior worth one answer at their kind's rate.

    Examples
    --------
    >>> five = np.zeros(5, dtype=np.int64)
    >>> tests = Tests(five, five, five, five > 0)
    >>> retired_questions(tests, np.ones(5), np.array([0.9])).tolist()
    [0]
    """
    from scipy import special

    n = int(tests.question.max(initial=-1)) + 1
    rate = np.ones(n)
    rate[tests.question] = good[tests.kind]
    right = np.bincount(tests.question, careful * tests.correct, n) + rate
    wrong = np.bincount(tests.question, careful * ~tests.correct, n) + 1 - rate
    sure = special.betainc(right, np.maximum(wrong, 1e-9), _RETIRE_BELOW)
    return np.flatnonzero(sure > _RETIRE_SURE).astype(np.int64)
