"""Answer by answer between two fits: when to stop a worker at once.

The odds that are compared with the threshold are prior odds times a likelihood ratio.
Under honest answers this ratio is a martingale, so it ever exceeds c with a probability
of 1/c at most, however often one looks (Ville). With even prior odds at the most and a
threshold of .99, an honest worker is ever stopped with a probability of 1 % at most, as
far as the careful are as the fit says; with a usual share of 15 % it is .2 %.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from quality.counts import Floats
from quality.detection.stats.workers import key as keys
from quality.detection.stats.workers.answers import Tests
from quality.detection.stats.workers.fitting import Fitted, first_shares, presumed
from quality.detection.stats.workers.options import CARELESS, CLASSES, AssessOptions
from quality.detection.stats.workers.turning import log_sum

_TURNING = CLASSES.index("turning")


@dataclass
class Watch:
    """What is known of each worker, to be brought up to date with each test.

    Attributes
    ----------
    careful : ndarray, shape (n_workers, n_points)
        Log-likelihood of all tests so far, by ability of a careful worker.
    careless : ndarray, shape (n_workers, n_strategies)
    rated : ndarray, shape (n_workers, n_classes)
        Log-likelihood of the ratings at the last fit.
    turned : ndarray, shape (n_workers,)
        Log-likelihood of all answers by somebody who turned.
    n : ndarray of int, shape (n_workers,)
        Answers so far.
    rates, guesses : ndarray
        Log-odds of a careful answer by kind and ability, and rates by strategy and kind.
    shares : ndarray
        Prior probabilities of the classes.
    strategy : list of str
    """

    careful: Floats
    careless: Floats
    rated: Floats
    turned: Floats
    n: np.ndarray
    rates: Floats
    guesses: Floats
    shares: Floats
    strategy: list[str]

    def after_test(self, worker: int, kind: int, right: bool) -> float:
        """Take in one more answer, and give how likely the worker is to be careless."""
        careful = self.rates[kind] if right else np.log1p(-np.exp(self.rates[kind]))
        guess = self.guesses[:, kind] if right else 1 - self.guesses[:, kind]
        honest = log_sum(self.careful[worker] + keys.point_weights())
        honest = honest + self.rated[worker, 0] - np.log(self.n[worker] + 1)
        self.turned[worker] = np.logaddexp(self.turned[worker], honest)
        self.turned[worker] += np.log(guess.mean())
        self.careful[worker] += careful
        self.careless[worker] += np.log(guess)
        self.n[worker] += 1
        return float(1 - self.posterior(worker)[0])

    def posterior(self, worker: int) -> Floats:
        """Give the probability of a worker to be of each class."""
        able = log_sum(self.careful[worker] + keys.point_weights())
        joint = self.rated[worker] + able
        for name in CARELESS:
            rows = [row for row, of in enumerate(self.strategy) if of == name]
            tested = log_sum(self.careless[worker, rows]) - np.log(len(rows))
            column = CLASSES.index(name)
            joint[column] = self.rated[worker, column] + tested
        joint[_TURNING] = self.turned[worker]
        joint = joint + np.log(self.shares)
        return np.asarray(np.exp(joint - log_sum(joint)), dtype=np.float64)


def watch_of(
    fitted: Fitted | None,
    n_workers: int,
    tests: Tests,
    options: AssessOptions,
    *,
    n_kinds: int,
) -> Watch:
    """Begin to watch from a fit, or from what is presumed.

    Parameters
    ----------
    fitted : Fitted or None
    n_workers : int
    tests : Tests
        Those that the fit knows.
    options : AssessOptions
    n_kinds : int
        Kinds of questions that may come.

    Returns
    -------
    Watch

    References
    ----------
    J. Ville, "Étude critique de la notion de collectif" (1939), for the bound above.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_tests
    >>> watch = watch_of(None, 1, no_tests(), AssessOptions(), n_kinds=1)
    >>> right = [watch.after_test(0, 0, True) for _ in range(3)]
    >>> wrong = [watch.after_test(0, 0, False) for _ in range(9)]
    >>> right[-1] < 0.1, wrong[-1] > 0.9
    (True, True)
    """
    kinds = np.arange(n_kinds)
    every = Tests(kinds, kinds, kinds, kinds >= 0)
    blank = keys.first_key(every, options)
    able, guesses = blank.ability.copy(), blank.guessing.copy()
    able[:] = np.log(options.accuracy / (1 - options.accuracy))
    variance = blank.ability_variance.copy()
    n = np.zeros(n_workers, dtype=np.int64)
    careful = np.zeros((n_workers, len(keys.point_weights())))
    careless = np.zeros((n_workers, len(blank.strategy)))
    rated = np.zeros((n_workers, len(CLASSES)))
    turned = np.full(n_workers, -np.inf)
    shares = first_shares(options)
    if fitted is not None:
        known = len(fitted.key.ability)
        able[:known] = fitted.key.ability
        variance[:known] = fitted.key.ability_variance
        guesses[:, :known] = fitted.key.guessing
        np.add.at(
            careful, tests.worker, keys.careful_log_odds(tests, fitted.key, options)
        )
        np.add.at(careless, tests.worker, keys.careless_log_odds(tests, fitted.key))
        rated = fitted.parts["ratings"].copy()
        turned = fitted.turned.likelihood.copy()
        n = fitted.line.counts.copy()
        shares = presumed(fitted.shares, options.innocence)
    new = replace(blank, ability=able, ability_variance=variance)
    rates = keys.careful_log_odds(every, new, options)
    guesses = np.clip(guesses, 0.01, 0.99)
    return Watch(
        careful, careless, rated, turned, n, rates, guesses, shares, blank.strategy
    )
