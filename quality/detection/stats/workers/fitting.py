"""Classes of workers fitted to tests and ratings together (EM)."""

from dataclasses import dataclass, replace

import numpy as np

from quality.counts import Floats
from quality.detection.stats.workers import key as keys
from quality.detection.stats.workers import residuals
from quality.detection.stats.workers.answers import (
    CARELESS,
    CLASSES,
    AssessOptions,
    Ratings,
    Tests,
    Timeline,
    timeline,
)
from quality.detection.stats.workers.key import Key
from quality.detection.stats.workers.residuals import (
    Expected,
    Items,
    Nodes,
    Spread,
    Turned,
    log_sum,
    turned,
    whole,
)

_BLOCKS = ("tests", "ratings")


@dataclass
class Fitted:
    """The state of the fit.

    Attributes
    ----------
    shares : ndarray, shape (n_classes,)
        Of the pool, in the order of ``CLASSES``.
    people, copied : Expected
        Expected ratings of careful people and of narrow answers.
    likelihood : ndarray, shape (n_workers, n_classes)
        Logarithms.
    parts : dict of ndarray, shape (n_workers, n_classes)
        The same of tests and of ratings alone; turning cannot be split.
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

    def posterior(self, innocence: float | None = None) -> Floats:
        """Return the probability of each worker to be of each class.

        The prior probability of not being honest is at most `innocence`.
        """
        shares = self.shares
        if innocence is not None:
            shares = presumed(shares, innocence)
        joint = self.likelihood + np.log(shares)
        return np.exp(joint - log_sum(joint)[:, None])

    def careful(self, p_class: Floats) -> Floats:
        """Return the probability of care for each answer in the timeline."""
        worker = self.line.worker
        turning = p_class[worker, CLASSES.index("turning")]
        return np.asarray(p_class[worker, 0] + turning * (1 - self.turned.by_then))


def fit_workers(
    n_workers: int,
    tests: Tests,
    ratings: Ratings,
    options: AssessOptions,
    *,
    last: Fitted | None = None,
) -> Fitted:
    """Fit classes of workers to all their answers.

    Parameters
    ----------
    last : Fitted, optional
        A fit to fewer answers of the same workers and kinds, to start from.

    References
    ----------
    A. P. Dawid and A. M. Skene, Applied Statistics 28 (1979), 20-28 (workers' errors by
    EM); D. Hovy et al., NAACL 2013 (careful or guessing); both extended to leniency,
    scatter, change and a key with errors.

    Examples
    --------
    >>> from quality.detection.stats.workers.answers import no_ratings, no_tests
    >>> fitted = fit_workers(2, no_tests(), no_ratings(), AssessOptions())
    >>> fitted.posterior()[:, 0].round(2).tolist()
    [0.88, 0.88]
    """
    line = timeline(n_workers, tests, ratings)
    items = residuals.as_items(ratings)
    start = residuals.first_expected(n_workers, items)
    noise = (residuals.NARROW_FIRST * start.scatter) ** 2
    spread = Spread(noise, 0.01, 0.005, 0.003, 0.003)
    narrow = Expected(start.mean, 0.002, spread, 0 * start.leniency)
    fitted = Fitted(
        first_shares(options),
        keys.first_key(tests, options),
        start,
        narrow,
        np.zeros((n_workers, len(CLASSES))),
        {},
        Turned(np.full(n_workers, -np.inf), np.zeros(len(line))),
        line,
    )
    if last is not None:
        _continue(fitted, last)
    before = np.zeros((n_workers, len(CLASSES)))
    for number in range(options.n_iterations):
        # A change in the middle is the most expensive part, and the slowest to
        # converge.
        final = number == options.n_iterations - 1
        _expectation(fitted, tests, items, options, look=final or number % 3 == 0)
        after = fitted.posterior()
        fitted.n_rounds += 1
        still = np.abs(after - before).max(initial=0) < options.tolerance
        if final or still:
            break
        before = after
        _maximisation(fitted, tests, items, after, options)
    return fitted


def _continue(fitted: Fitted, last: Fitted) -> None:
    fitted.shares = last.shares
    known, new = last.key, fitted.key
    n, kinds = len(known.difficulty), len(known.ability)
    if kinds > len(new.ability) or n > len(new.difficulty):
        raise ValueError("The last fit knows questions that these answers lack.")
    new.ability[:kinds] = known.ability
    new.ability_variance[:kinds] = known.ability_variance
    new.difficulty[:n] = known.difficulty
    new.difficulty_information[:n] = known.difficulty_information
    new.guessing[:, :kinds] = known.guessing
    fitted.people = replace(
        fitted.people, spread=last.people.spread, leniency=last.people.leniency
    )
    fitted.copied = replace(
        fitted.copied, spread=last.copied.spread, leniency=last.copied.leniency
    )


def first_shares(options: AssessOptions) -> Floats:
    """Return the prior shares of the classes.

    Examples
    --------
    >>> first_shares(AssessOptions()).round(2).tolist()
    [0.85, 0.03, 0.03, 0.03, 0.03, 0.03]
    """
    others = options.share_careless / (len(CLASSES) - 1)
    return np.array([1 - options.share_careless] + [others] * (len(CLASSES) - 1))


def _expectation(
    fitted: Fitted, tests: Tests, items: Items, options: AssessOptions, *, look: bool
) -> None:
    line = fitted.line
    by_class = _nodes(fitted, tests, items, options)
    for block, name in enumerate(_BLOCKS):
        part = np.zeros((line.n_workers, len(CLASSES)))
        for column, kind in enumerate(CLASSES):
            if kind != "turning":
                part[:, column] = whole([by_class[kind][block]], line)
        fitted.parts[name] = part
    total = fitted.parts["tests"] + fitted.parts["ratings"]
    if look:
        fitted.turned = turned(
            by_class["honest"], {kind: by_class[kind] for kind in CARELESS}, line
        )
    total[:, CLASSES.index("turning")] = fitted.turned.likelihood
    fitted.likelihood = total


def _nodes(
    fitted: Fitted, tests: Tests, items: Items, options: AssessOptions
) -> dict[str, list[Nodes]]:
    key, line = fitted.key, fitted.line
    by_care = keys.careful_log_odds(tests, key, options)
    careful = Nodes(_placed(by_care, line.test, line), keys.point_weights())
    guesses = keys.careless_log_odds(tests, key, by_care)
    rated = residuals.habits(items, fitted.people, fitted.copied)
    found = {}
    for kind, (answers, weights) in rated.items():
        rows = [row for row, name in enumerate(key.strategy) if name == kind]
        tested = careful
        if rows:
            tested = Nodes(
                _placed(guesses[:, rows], line.test, line),
                np.full(len(rows), -np.log(len(rows))),
            )
        found[kind] = [tested, Nodes(_placed(answers, line.rating, line), weights)]
    return found


def _placed(values: Floats, places: np.ndarray, line: Timeline) -> Floats:
    column = np.zeros((len(line), values.shape[1]))
    column[places] = values
    return column


def presumed(shares: Floats, innocence: float) -> Floats:
    """Limit the prior probability of not being honest.

    Examples
    --------
    >>> presumed(np.array([0.2, 0.8]), 0.5).tolist()
    [0.5, 0.5]
    """
    bad = 1 - float(shares[0])
    if bad <= innocence:
        return shares
    lowered = shares * innocence / bad
    lowered[0] = 1 - innocence
    return lowered


def _maximisation(
    fitted: Fitted, tests: Tests, items: Items, p_class: Floats, options: AssessOptions
) -> None:
    line = fitted.line
    answered = line.counts > 0
    prior = first_shares(options) * options.strength
    fitted.shares = (p_class[answered].sum(axis=0) + prior) / (
        answered.sum() + options.strength
    )
    careful = fitted.careful(p_class)
    narrow = p_class[:, CLASSES.index("narrow")]
    # A worker who copies a language model knows the key as careful people do.
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
