"""The estimated key: how often careful and careless people agree with it, by kind."""

from dataclasses import dataclass

import numpy as np

from quality.counts import Floats, Ints
from quality.detection.stats.workers.answers import AssessOptions, Tests

#: Accuracy of always rating well, and its weight in questions.
_ALWAYS, _STRENGTH = 0.9, 20.0
#: Uncertainty of a guesser's accuracy; if it were free, it would explain
#: careful people on a hard key.
_LEEWAY = 0.15
#: Start of the fit: from a low agreement it climbs to that of careful people, from a
#: high one the many who agree less with a hard key would count as guessers.
_BEGIN = 0.65
#: Careful people agree with the key more often than not, over all kinds of a polarity:
#: if most of a crowd answers against the key, or always yes, that does not make them
#: careful.
_LEAST = 0.55
#: A question is retired when careful people are more often wrong than right, surely.
_RETIRE_BELOW, _RETIRE_SURE = 0.5, 0.95
# Gauss-Hermite points for the ability of a careful worker
_POINTS, _POINT_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
_POINT_WEIGHTS = _POINT_WEIGHTS / _POINT_WEIGHTS.sum()


@dataclass(frozen=True)
class Key:
    """The current estimates of agreement with the key.

    Attributes
    ----------
    ability : ndarray, shape (n_kinds,)
        Logit of careful people's agreement.
    ability_variance : ndarray, shape (n_kinds,)
    difficulty, difficulty_information : ndarray, shape (n_questions,)
        How much harder than its kind a question is, in logits, and the information of
        the answers about it beside the prior.
    guessing : ndarray, shape (n_strategies, n_kinds)
        Accuracy of careless strategies; see `strategy`.
    strategy : list of str
        The class that each row of `guessing` belongs to.
    counted : ndarray, shape (n_tests,)
        Weight of each answer when difficulties were learned.
    """

    ability: Floats
    ability_variance: Floats
    difficulty: Floats
    difficulty_information: Floats
    guessing: Floats
    strategy: list[str]
    counted: Floats


def first_key(tests: Tests, options: AssessOptions) -> Key:
    """Return the prior estimates.

    Examples
    --------
    >>> one = np.zeros(1, dtype=np.int64)
    >>> key = first_key(Tests(one, one, one, one == 0), AssessOptions())
    >>> key.strategy
    ['constant', 'random', 'inverted']
    """
    n_kinds = int(tests.kind.max(initial=-1)) + 1
    n_questions = int(tests.question.max(initial=-1)) + 1
    guessing, _, strategy = _guessing_prior(n_kinds, options)
    return Key(
        _logit(_above(_guesses(n_kinds, options)[0], _BEGIN)),
        np.full(n_kinds, options.accuracy_sd**2),
        np.zeros(n_questions),
        np.zeros(n_questions),
        guessing,
        strategy,
        np.zeros(len(tests.kind)),
    )


def _guesses(n_kinds: int, options: AssessOptions) -> tuple[Floats, Floats]:
    rows = options.guesses or ((0.5, 0.5),) * max(n_kinds, 1)
    if len(rows) < n_kinds:
        raise ValueError(f"Guesses are needed of {n_kinds} kinds of questions.")
    chance, *habits = np.array(rows, dtype=np.float64)[:n_kinds].T
    # Two habits that are right on the same questions are one.
    return chance, np.array(list({habit.tobytes(): habit for habit in habits}.values()))


def _above(chance: Floats, share: float) -> Floats:
    chance = np.maximum(chance, 0.5)
    return np.asarray(chance + (2 * share - 1) * (1 - chance), dtype=np.float64)


def _guessing_prior(
    n_kinds: int, options: AssessOptions
) -> tuple[Floats, Floats, list[str]]:
    """Return the strategies' expected agreement with each kind, and their leanings.

    A strategy that follows its habit more often is right more often if its leaning is
    1, and less often if it is -1.
    """
    chance, habits = _guesses(n_kinds, options)
    slips = 2 * (1 - _ALWAYS)
    inverted = 1 - _above(chance, options.accuracy)
    rows = np.vstack([(1 - slips) * habits + slips * chance, chance, inverted])
    leaning = np.vstack([2 * habits - 1, habits[0] - habits[-1], 0 * chance])
    if len(habits) > 1:
        leaning[-2] = habits[0] - habits[1]
    return rows, leaning, [*["constant"] * len(habits), "random", "inverted"]


def careful_log_odds(tests: Tests, key: Key, options: AssessOptions) -> Floats:
    """Return the log-probability of each answer by careful people of several abilities.

    Uncertainty about a kind and a question widens the prediction; an answer is
    predicted from the others' answers to its question alone.

    Returns
    -------
    ndarray, shape (n_tests, n_points)

    References
    ----------
    G. Rasch, "Probabilistic models" (1960), for the form; D. MacKay, Neural Computation
    4 (1992), 720, section 4, for averaging a logistic prediction over a normal.

    Examples
    --------
    >>> one = np.zeros(2, dtype=np.int64)
    >>> tests = Tests(one, one, one, np.array([True, False]))
    >>> options = AssessOptions()
    >>> key = first_key(tests, options)
    >>> careful_log_odds(tests, key, options).shape
    (2, 5)
    """
    mean, variance = _without_own(tests, key, options)
    logit = key.ability[tests.kind] - mean
    spread = variance + key.ability_variance[tests.kind]
    able = logit[:, None] + options.worker_sd * _POINTS
    able = able / np.sqrt(1 + np.pi * spread[:, None] / 8)
    sign = np.where(tests.correct, 1.0, -1.0)[:, None]
    return np.asarray(-np.logaddexp(0.0, -sign * able), dtype=np.float64)


def point_weights() -> Floats:
    """Return the logarithms of the weights of the abilities.

    Examples
    --------
    >>> round(float(np.exp(point_weights()).sum()), 9)
    1.0
    """
    return np.asarray(np.log(_POINT_WEIGHTS), dtype=np.float64)


def _without_own(
    tests: Tests, key: Key, options: AssessOptions
) -> tuple[Floats, Floats]:
    chance = _expit(key.ability[tests.kind] - key.difficulty[tests.question])
    own = key.counted * chance * (1 - chance)
    rest = np.maximum(key.difficulty_information[tests.question] - own, 0)
    rest += options.question_sd**-2
    # subtract the answer's own effect on the difficulty, to first order
    pull = key.counted * np.where(tests.correct, chance - 1, chance)
    return key.difficulty[tests.question] - pull / rest, 1 / rest


def careless_log_odds(tests: Tests, key: Key, careful: Floats) -> Floats:
    """Compute the log-probability of each answer by each careless strategy.

    No strategy is right more often than careful people: a right answer never counts
    against a worker, also if all questions have the same one.

    Parameters
    ----------
    careful : ndarray, shape (n_tests, n_points)
        As `careful_log_odds` returns it.

    Returns
    -------
    ndarray, shape (n_tests, n_strategies)

    Examples
    --------
    >>> one = np.zeros(2, dtype=np.int64)
    >>> tests = Tests(one, one, one, np.array([True, False]))
    >>> options = AssessOptions()
    >>> key = first_key(tests, options)
    >>> careful = careful_log_odds(tests, key, AssessOptions())
    >>> np.exp(careless_log_odds(tests, key, careful))[0].round(2).tolist()
    [0.5, 0.5, 0.15]
    """
    as_answered = np.exp(careful) @ _POINT_WEIGHTS
    right = np.where(tests.correct, as_answered, 1 - as_answered)[:, None]
    rate = np.clip(np.minimum(key.guessing[:, tests.kind].T, right), 0.01, 0.99)
    return np.asarray(
        np.log(np.where(tests.correct[:, None], rate, 1 - rate)), dtype=np.float64
    )


def learn_key(
    tests: Tests, key: Key, careful: Floats, careless: Floats, options: AssessOptions
) -> Key:
    """Estimate the agreement with the key from answers weighted by class probabilities.

    Parameters
    ----------
    key : Key
        The last estimates.
    careful : ndarray, shape (n_tests,)
        Probability that the answer was given with care.
    careless : ndarray, shape (n_tests, n_strategies)
        Probability that it was given by each strategy.

    Returns
    -------
    Key
        One Newton step for careful people; careless rates in closed form.

    References
    ----------
    A. Dempster, N. Laird and D. Rubin, JRSS B 39 (1977), 1-38 (EM; the step for the
    careful is a generalised one).

    Examples
    --------
    >>> one = np.zeros(2, dtype=np.int64)
    >>> tests = Tests(one, one, one, np.array([True, False]))
    >>> options = AssessOptions()
    >>> key = first_key(tests, options)
    >>> weights = np.zeros((2, 3))
    >>> learned = learn_key(tests, key, np.ones(2), weights, options)
    >>> bool(learned.difficulty[0] > 0)
    True
    """
    n_kinds, n_questions = len(key.ability), len(key.difficulty)
    kind, question = tests.kind, tests.question
    ability, difficulty, own = key.ability, key.difficulty, key.difficulty_information
    known, usual = options.question_sd**-2, options.accuracy_sd**-2
    presumed = _logit(_above(_guesses(n_kinds, options)[0], options.accuracy))
    for _ in range(3):
        # As answers are predicted: averaged over people and over the uncertainty.
        spread = options.worker_sd**2 + 1 / (own + known)
        flat = 1 / np.sqrt(1 + np.pi * spread / 8)[question]
        chance = _expit((ability[kind] - difficulty[question]) * flat)
        gap = careful * flat * (tests.correct - chance)
        weight = careful * flat**2 * chance * (1 - chance)
        information = _sums(kind, weight, n_kinds) + usual
        pull = _sums(kind, gap, n_kinds) - usual * (ability - presumed)
        ability = ability + np.clip(pull / information, -1, 1)
        ability = _raised(ability, _sums(kind, np.ones(len(kind)), n_kinds), options)
        chance = _expit(ability[kind] - difficulty[question])
        gap = careful * (tests.correct - chance)
        own = _sums(question, careful * chance * (1 - chance), n_questions)
        pull = -_sums(question, gap, n_questions) - known * difficulty
        difficulty = difficulty + np.clip(pull / (own + known), -1, 1)
    return Key(
        ability,
        1 / information,
        difficulty,
        own,
        _learn_guessing(tests, careless, key, options),
        key.strategy,
        careful,
    )


def _raised(ability: Floats, asked: Floats, options: AssessOptions) -> Floats:
    lifted = ability.copy()
    chance, habits = _guesses(len(ability), options)
    least = _logit(_above(chance, _LEAST))
    for pattern in np.unique(habits, axis=1).T:
        group = (pattern == habits.T).all(axis=1)
        n = float(asked[group].sum())
        if n:
            missing = float((least - ability)[group] @ asked[group]) / n
            lifted[group] += max(missing, 0.0)
    return lifted


def _learn_guessing(
    tests: Tests, careless: Floats, key: Key, options: AssessOptions
) -> Floats:
    """Estimate the accuracy of careless strategies.

    Answers given without reading are right by habit or chance alone: a strategy that
    says "good" more often gets more of the good questions right and as many fewer of
    the bad ones (Youden's index is 0).
    """
    n_kinds = len(key.ability)
    expected, leaning, _ = _guessing_prior(n_kinds, options)
    right = np.array(
        [_sums(tests.kind, w * tests.correct, n_kinds) for w in careless.T]
    )
    n = np.array([_sums(tests.kind, w, n_kinds) for w in careless.T])
    more = (leaning * (right - n * expected)).sum(axis=1)
    shift = more / ((n * leaning**2).sum(axis=1) + _STRENGTH)
    shift = np.clip(shift, -_LEEWAY, _LEEWAY)[:, None]
    learned = np.clip(expected + leaning * shift, 0, 1)
    # An inverting worker is right if careful people are wrong.
    free = (right + _STRENGTH * expected)[-1] / (n[-1] + _STRENGTH)
    learned[-1] = np.minimum(free, 0.5)
    return np.asarray(learned, dtype=np.float64)


def good_accuracy(key: Key, options: AssessOptions) -> Floats:
    """Return careful people's agreement with each kind of question, over all questions.

    Examples
    --------
    >>> one = np.zeros(1, dtype=np.int64)
    >>> key = first_key(Tests(one, one, one, one == 0), AssessOptions())
    >>> good_accuracy(key, AssessOptions()).round(2).tolist()
    [0.62]
    """
    spread = options.question_sd**2 + options.worker_sd**2
    return _expit(key.ability / np.sqrt(1 + np.pi * spread / 8))


def retired_questions(
    tests: Tests, careful: Floats, key: Key, options: AssessOptions
) -> Ints:
    """List the questions that careful people fail.

    Parameters
    ----------
    careful : ndarray, shape (n_tests,)
        Probability that the answer was given with care.

    Returns
    -------
    ndarray of int
        Questions on which careful people are more often wrong than right with a
        probability above .95, given a prior worth one answer at their kind's rate.

    Examples
    --------
    >>> five = np.zeros(5, dtype=np.int64)
    >>> tests = Tests(five, five, five, five > 0)
    >>> key = first_key(tests, AssessOptions())
    >>> retired_questions(tests, np.ones(5), key, AssessOptions()).tolist()
    [0]
    """
    from scipy import special

    n = len(key.difficulty)
    kind_of = np.zeros(n, dtype=np.int64)
    kind_of[tests.question] = tests.kind
    rate = good_accuracy(key, options)[kind_of] if n else np.zeros(0)
    right = np.bincount(tests.question, careful * tests.correct, n) + rate
    wrong = np.bincount(tests.question, careful * ~tests.correct, n) + 1 - rate
    sure = special.betainc(right, wrong, _RETIRE_BELOW)
    return np.flatnonzero(sure > _RETIRE_SURE).astype(np.int64)


def _sums(codes: Ints, values: Floats, n: int) -> Floats:
    return np.asarray(np.bincount(codes, values, n), dtype=np.float64)


def _expit(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)), dtype=np.float64)


def _logit(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1 - p)), dtype=np.float64)
