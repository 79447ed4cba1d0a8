"""Classes of workers fitted to tests and ratings together (EM)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quality.counts import Floats
from quality.detection.stats.workers import key as keys
from quality.detection.stats.workers import residuals
from quality.detection.stats.workers.answers import Ratings, Tests, Timeline, timeline
from quality.detection.stats.workers.key import Key
from quality.detection.stats.workers.options import CARELESS, CLASSES, AssessOptions
from quality.detection.stats.workers.residuals import Expected, Items, Spread
from quality.detection.stats.workers.turning import (
    Nodes,
    Turned,
    log_sum,
    turned,
    whole,
)

_BLOCKS = ("tests", "ratings")


@dataclass
class Fitted:
    """Where the fit stands.

    Attributes
    ----------
    shares : ndarray, shape (n_classes,)
        Of the pool, in the order of ``CLASSES``.
    key : Key
    people, copied : Expected
        What careful people and narrow answers give items.
    likelihood : ndarray, shape (n_workers, n_classes)
        Logarithms.
    parts : dict of ndarray, shape (n_workers, n_classes)
        The same of tests and of ratings alone; turning cannot be split.
    turned : Turned
    line : Timeline
    """

    shares: Floats
    key: Key
    people: Expected
    copied: Expected
    likelihood: Floats
    parts: dict[str, Floats]
    turned: Turned
    line: Timeline
    n_rounds: int = 0


def fit_workers(
    n_workers: int, tests: Tests, ratings: Ratings, options: AssessOptions
) -> Fitted:
    """Fit classes of workers to all their answers.

    Parameters
    ----------
    n_workers : int
    tests : Tests
    ratings : Ratings
    options : AssessOptions

    Returns
    -------
    Fitted

    References
    ----------
    A. P. Dawid and A. M. Skene, Applied Statistics 28 (1979), 20-28 (workers' errors by
    EM); D. Hovy et al., NAACL 2013 (careful or guessing); both extended to leniency,
    scatter, change and a key with errors.
    """
    line = timeline(n_workers, tests, ratings)
    items = residuals.as_items(ratings)
    start = residuals.first_expected(n_workers, items)
    fitted = Fitted(
        first_shares(options),
        keys.first_key(tests, options),
        start,
        _first_narrow(start),
        np.zeros((n_workers, len(CLASSES))),
        {},
        Turned(np.full(n_workers, -np.inf), np.zeros(len(line))),
        line,
    )
    before = np.zeros((n_workers, len(CLASSES)))
    for _ in range(options.n_iterations):
        _expectation(fitted, tests, items, options)
        after = posterior(fitted)
        fitted.n_rounds += 1
        if np.abs(after - before).max(initial=0) < options.tolerance:
            break
        before = after
        _maximisation(fitted, tests, items, after, options)
    return fitted


def first_shares(options: AssessOptions) -> Floats:
    """Give the shares that are presumed of the classes.

    Examples
    --------
    >>> first_shares(AssessOptions()).round(2).tolist()
    [0.85, 0.03, 0.03, 0.03, 0.03, 0.03]
    """
    others = options.share_careless / (len(CLASSES) - 1)
    return np.array([1 - options.share_careless] + [others] * (len(CLASSES) - 1))


def _first_narrow(of_people: Expected) -> Expected:
    noise = (residuals.NARROW_FIRST * of_people.scatter) ** 2
    spread = Spread(noise, 0.01, 0.005, 0.003, 0.003)
    return Expected(of_people.mean, 0.002, spread, 0 * of_people.leniency)


def _expectation(
    fitted: Fitted, tests: Tests, items: Items, options: AssessOptions
) -> None:
    """Work out the likelihood of every worker in every class."""
    line = fitted.line
    by_class = _nodes(fitted, tests, items, options)
    for block, name in enumerate(_BLOCKS):
        part = np.zeros((line.n_workers, len(CLASSES)))
        for column, kind in enumerate(CLASSES):
            if kind != "turning":
                part[:, column] = whole([by_class[kind][block]], line)
        fitted.parts[name] = part
    total = fitted.parts["tests"] + fitted.parts["ratings"]
    fitted.turned = turned(
        by_class["honest"], {kind: by_class[kind] for kind in CARELESS}, line
    )
    total[:, CLASSES.index("turning")] = fitted.turned.likelihood
    fitted.likelihood = total


def _nodes(
    fitted: Fitted, tests: Tests, items: Items, options: AssessOptions
) -> dict[str, list[Nodes]]:
    """Give what each class answers in tests and in ratings."""
    key, line = fitted.key, fitted.line
    careful = Nodes(
        _placed(keys.careful_log_odds(tests, key, options), line.test, line),
        keys.point_weights(),
    )
    guesses = keys.careless_log_odds(tests, key)
    rated = {
        "honest": residuals.people(items, fitted.people),
        "constant": residuals.constant(items),
        "random": residuals.anyhow(items),
        "inverted": residuals.inverted(items, fitted.people),
        "narrow": residuals.narrow(items, fitted.copied),
    }
    found = {}
    for kind, (answers, weights) in rated.items():
        rows = [row for row, name in enumerate(key.strategy) if name == kind]
        tested = careful
        if rows:
            tested = Nodes(
                _placed(guesses[:, rows], line.test, line),
                np.full(len(rows), -np.log(len(rows))),
            )
        powered = options.rating_weight * answers
        found[kind] = [tested, Nodes(_placed(powered, line.rating, line), weights)]
    return found


def _placed(values: Floats, places: np.ndarray, line: Timeline) -> Floats:
    column = np.zeros((len(line), values.shape[1]))
    column[places] = values
    return column


def posterior(fitted: Fitted, innocence: float | None = None) -> Floats:
    """Give the probability of each worker to be of each class.

    Parameters
    ----------
    fitted : Fitted
    innocence : float, optional
        The largest prior probability of not being honest.

    Returns
    -------
    ndarray, shape (n_workers, n_classes)
    """
    shares = fitted.shares
    bad = 1 - shares[0]
    if innocence is not None and bad > innocence:
        shares = shares * innocence / bad
        shares[0] = 1 - innocence
    joint = fitted.likelihood + np.log(shares)
    return np.exp(joint - log_sum(joint)[:, None])


def careful_answers(fitted: Fitted, p_class: Floats) -> Floats:
    """Give the probability of each answer in the timeline to be given with care."""
    worker = fitted.line.worker
    turning = p_class[worker, CLASSES.index("turning")]
    return np.asarray(p_class[worker, 0] + turning * (1 - fitted.turned.by_then))


def _maximisation(
    fitted: Fitted,
    tests: Tests,
    items: Items,
    p_class: Floats,
    options: AssessOptions,
) -> None:
    """Learn shares, key and what items deserve."""
    line = fitted.line
    answered = line.counts > 0
    prior = first_shares(options) * options.strength
    fitted.shares = (p_class[answered].sum(axis=0) + prior) / (
        answered.sum() + options.strength
    )
    careful = careful_answers(fitted, p_class)
    narrow = p_class[:, CLASSES.index("narrow")]
    # who copies a language model knows the key as careful people do
    careful_test = (careful + narrow[line.worker])[line.test]
    strategies = [
        p_class[tests.worker, CLASSES.index(name)] / fitted.key.strategy.count(name)
        for name in fitted.key.strategy
    ]
    fitted.key = keys.learn_key(
        tests, fitted.key, careful_test, np.array(strategies).T, options
    )
    fitted.people = residuals.expect(items, careful[line.rating], fitted.people)
    copied = residuals.expect(items, narrow[items.worker], fitted.copied)
    fitted.copied = residuals.narrowed(copied, fitted.people)
