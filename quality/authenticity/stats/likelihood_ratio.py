"""The combined signs: a program's likelihood over a person's, with an error.

Three classes of workers: people, programs whose answers vary as people's, programs
whose answers are narrow. Each sign is normal among people, around the crowd's own
center with the crowd's own spread and the worker's own error; among programs it is
moved by a stated amount. Centers, spreads and the shares of the classes are estimated
together (EM).
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from quality.counts import Floats, Ints

# Answers beside the estimated quality of their texts.
#: Variance of one answer around its text, in variances between texts. It shrinks the
#: mean of the others' answers. Two of three ICC(1) around .35 are .5.
NOISE = 2.0


@dataclass(frozen=True)
class Answers:
    """Ratings of one crowd: the rater of each text, and a judge's score of it.

    Codes count from 0. A text is one output for one instance; answers about several
    criteria or slots count as separate texts. The judge is NaN if it has no score.
    """

    worker: Ints
    text: Ints
    instance: Ints
    system: Ints
    value: Floats
    judge: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def n_workers(self) -> int:
        return int(self.worker.max()) + 1 if self.worker.size else 0

    @property
    def judge_scores(self) -> Floats:
        """Return the judge's score of each answer's text; NaN if there is none."""
        return self.judge if self.judge.size else np.full(self.value.size, np.nan)


def center_answers(answers: Answers) -> Floats:
    """Return each answer less its worker's mean, so that strictness does not count.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([0, 0, 1, 1])
    >>> codes = np.array([0, 1, 0, 1])
    >>> some = Answers(two, codes, codes, 0 * codes, np.array([0.2, 0.4, 0.6, 1.0]))
    >>> center_answers(some).round(2).tolist()
    [-0.1, 0.1, -0.2, 0.2]
    """
    n = np.bincount(answers.worker, minlength=answers.n_workers)
    total = np.bincount(answers.worker, answers.value, minlength=answers.n_workers)
    return np.asarray(answers.value - (total / np.maximum(n, 1))[answers.worker])


def estimate_quality(
    answers: Answers, weight: Floats | None = None, noise: float = NOISE
) -> Floats:
    """Estimate the quality of each answer's text from the answers of all others.

    The effect of the system, of the instance within the remainder, and of the text
    within both, each shrunk towards 0 if few answered: a sum of n is divided by n +
    `noise`. The worker's own answers to the instance and the text never count; those to
    the system's other instances do, with a negligible weight.

    Parameters
    ----------
    weight : array, optional
        Weight of each worker, such as the probability of being a person.

    Examples
    --------
    >>> import numpy as np
    >>> who, text = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    >>> value = np.array([1, 0, 1, 0, 0.6, 0.4])
    >>> estimate_quality(Answers(who, text, text, 0 * text, value)).round(2).tolist()
    [0.23, -0.23, 0.23, -0.23, 0.38, -0.38]
    """
    value, who = center_answers(answers), answers.worker
    counted = np.ones(value.size) if weight is None else weight[who]
    of_all = np.bincount(answers.system, counted * value)
    n_of_all = np.bincount(answers.system, counted)
    rest = value - (of_all / (n_of_all + noise))[answers.system]
    total, n = _others(answers.system, who, value, counted)
    system = total / (n + noise)
    total, n = _others(answers.instance, who, rest, counted)
    instance = total / (n + noise)
    # All answers about one text are about one instance, so there is no other effect.
    total, n = _others(answers.text, who, rest, counted)
    return np.asarray(system + instance + (total - n * instance) / (n + noise))


def _others(
    codes: Ints, worker: Ints, value: Floats, counted: Floats
) -> tuple[Floats, Floats]:
    n_workers = int(worker.max()) + 1 if worker.size else 1
    _, own = np.unique(codes * n_workers + worker, return_inverse=True)
    total = np.bincount(codes, counted * value)[codes]
    n = np.bincount(codes, counted)[codes]
    total = total - np.bincount(own, counted * value)[own]
    n = n - np.bincount(own, counted)[own]
    return np.asarray(total), np.asarray(np.maximum(n, 0))


# Three signs of a program's answers, one number and one error a worker.
#: Workers with fewer answers have no sign.
FEWEST = 6
#: Correlations are clipped to this, because Fisher's z of 1 is infinite.
_CLOSEST = 0.995


@dataclass(frozen=True)
class Sign:
    """One sign of each worker: the estimate, its error, and the number of answers."""

    value: Floats
    error: Floats
    n: Ints


def similarity(answers: Answers, to: Floats, *held: Floats) -> Sign:
    """Correlate answers with other scores of the same texts, given their quality.

    The partial correlation of value and `to` over a worker's answers, with the columns
    `held` constant, as Fisher's z; its error is 1 / sqrt(n - 3 - number of columns).

    Parameters
    ----------
    to : array
        A judge's answers, or those of workers under suspicion; NaN is left out.
    *held : array
        The quality of the texts (`answers.deserved`), and a judge's answers.

    References
    ----------
    R. A. Fisher, "The distribution of the partial correlation coefficient", Metron 3
    (1924).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> n, zero = np.arange(200), np.zeros(200, dtype=int)
    >>> judge, own = rng.normal(size=200), rng.normal(size=200)
    >>> some = Answers(zero, n, n, zero, judge + own)
    >>> sign = similarity(some, judge)
    >>> bool(abs(sign.value[0] - np.arctanh(np.corrcoef(judge, judge + own)[0, 1])) < 1e-9)
    True
    """
    told = np.isfinite(to)
    for column in held:
        told &= np.isfinite(column)
    who, n_workers = answers.worker[told], answers.n_workers
    first: list[Floats] = []
    for column in (*held, to, answers.value):
        rest = _within(column[told], who, n_workers)
        for before in first[: len(held)]:
            rest = rest - before * _slope(before, rest, who, n_workers)[who]
        first.append(rest)
    judge, value = first[-2:]
    n = np.bincount(who, minlength=n_workers)
    degrees = n - 3 - len(held)
    usable = (n >= FEWEST) & (degrees > 0)
    usable &= _varies(value, who, n_workers) & _varies(judge, who, n_workers)
    r = _correlation(value, judge, who, n_workers)
    z = np.arctanh(np.clip(r, -_CLOSEST, _CLOSEST))
    error = 1 / np.sqrt(np.maximum(degrees, 1))
    return Sign(np.where(usable, z, np.nan), np.where(usable, error, np.nan), n)


def spread(answers: Answers, expected: Floats) -> Sign:
    """Compute the log variance of each worker's answers around the texts' quality.

    Each worker has a separate slope on `expected`. The error allows for the kurtosis
    of the residuals.
    """
    who, n_workers = answers.worker, answers.n_workers
    value = center_answers(answers)
    held = _within(expected, who, n_workers)
    rest = value - held * _slope(held, value, who, n_workers)[who]
    n = np.bincount(who, minlength=n_workers)
    variance = np.bincount(who, rest**2, minlength=n_workers) / np.maximum(n - 2, 1)
    fourth = np.bincount(who, rest**4, minlength=n_workers) / np.maximum(n, 1)
    usable = n >= FEWEST
    # Equal answers count as narrow as one step of a scale of a thousand.
    floor = 1e-6 * max(float(value @ value) / max(value.size, 1), 1e-12)
    log = np.log(np.maximum(variance, floor))
    kurtosis = np.clip(fourth / np.maximum(variance, floor) ** 2, 1.8, 9.0)
    error = np.sqrt((kurtosis - 1) / np.maximum(n, 1))
    return Sign(np.where(usable, log, np.nan), np.where(usable, error, np.nan), n)


def shared_words(answers: Answers, suspicion: Floats) -> Floats:
    """Compute other suspects' mean residual on each answer's text.

    Weighted by suspicion over all others who answered about the text; NaN if no other
    is suspected.

    Examples
    --------
    >>> text = np.array([0, 1, 0, 1, 0, 1])
    >>> some = Answers(np.array([0, 0, 1, 1, 2, 2]), text, text, 0 * text,
    ...                np.array([1, 0, 1, 0, 0.0, 1.0]))
    >>> shared_words(some, np.array([1.0, 1.0, 0.0])).round(2).tolist()
    [0.78, -0.78, 0.78, -0.78, 0.78, -0.78]
    """
    rest = center_answers(answers) - estimate_quality(answers, 1 - suspicion)
    counted = suspicion[answers.worker]
    total = np.bincount(answers.text, counted * rest)[answers.text] - counted * rest
    n = np.bincount(answers.text, counted)[answers.text] - counted
    return np.asarray(np.where(n > 1e-3, total / np.maximum(n, 1e-3), np.nan))


def _within(value: Floats, who: Ints, n_workers: int) -> Floats:
    n = np.maximum(np.bincount(who, minlength=n_workers), 1)
    return np.asarray(value - (np.bincount(who, value, minlength=n_workers) / n)[who])


def _slope(of: Floats, value: Floats, who: Ints, n_workers: int) -> Floats:
    square = np.bincount(who, of**2, minlength=n_workers)
    both = np.bincount(who, of * value, minlength=n_workers)
    return np.asarray(both / np.maximum(square, 1e-12))


def _correlation(a: Floats, b: Floats, who: Ints, n_workers: int) -> Floats:
    """Correlate two centered columns for each worker; 0 without variation."""
    both = np.bincount(who, a * b, minlength=n_workers)
    squares = np.bincount(who, a * a, minlength=n_workers) * np.bincount(
        who, b * b, minlength=n_workers
    )
    return np.asarray(np.clip(both / np.sqrt(np.maximum(squares, 1e-24)), -1, 1))


def _varies(value: Floats, who: Ints, n_workers: int) -> npt.NDArray[np.bool_]:
    return np.asarray(np.bincount(who, value**2, minlength=n_workers) > 1e-12)


Bools = npt.NDArray[np.bool_]

#: Steps of EM, which converges early; its result is evidence, not a decision.
_STEPS = 30
#: The least spread of a sign among people, because no crowd is all alike.
_LEAST = 0.1
#: The prior shares count as this many workers.
_PRIOR_WORKERS = 5.0


@dataclass(frozen=True)
class Assumed:
    """Assumptions about answers that a program gave in a person's place.

    Parameters
    ----------
    judge : float
        How much closer they are to the judge's than people's, in Fisher's z.
    shared : float
        The same for the residuals of other suspects, given the judge.
    narrow : float
        Log variance of narrow answers less that of people's: half the spread.
    rounds : int
        Rounds in which the suspects' shared residuals are computed.
    """

    judge: float = 0.4
    shared: float = 0.2
    narrow: float = -1.39
    share: float = 0.1
    rounds: int = 2


@dataclass(frozen=True)
class Signs:
    """Each worker's signs, the log-likelihood ratio, its error and the probability.

    An unknown sign is NaN and adds nothing. `centres` and `spreads` describe the signs
    among people.
    """

    judge: Sign
    shared: Sign
    narrow: Sign
    log_ratio: Floats
    error: Floats
    probability: Floats
    centres: dict[str, float]
    spreads: dict[str, float]

    @property
    def unusual(self) -> Bools:
        """Return whose answers are at least three times as likely from a program."""
        return np.asarray(self.log_ratio > np.log(3))


def assess_authenticity(answers: Answers, assumed: Assumed | None = None) -> Signs:
    """Weigh the signs of all workers of a crowd.

    First the judge's scores and the narrowness; then, in a few rounds, the residuals
    that suspects share, given the quality of the texts and the judge.

    References
    ----------
    D. Prelec, "A Bayesian truth serum for subjective data", Science 306 (2004), for
    judging answers by those of peers; A. Dempster, N. Laird, D. Rubin, JRSS B 39 (1977).
    """
    known = assumed or Assumed()
    judged = answers.judge_scores
    nothing = np.full(answers.n_workers, np.nan)
    shared = Sign(nothing, nothing, np.zeros(answers.n_workers, dtype=np.int64))
    probability = np.zeros(answers.n_workers)
    held = (judged,) if np.isfinite(judged).any() else ()
    for step in range(known.rounds + 1):
        expected = estimate_quality(answers, 1 - probability)
        near = similarity(answers, judged, expected)
        narrow = spread(answers, expected)
        if step:
            words = shared_words(answers, probability)
            shared = similarity(answers, words, expected, *held)
        mixture = _Mixture({"judge": near, "shared": shared, "narrow": narrow}, known)
        probability = mixture.fit()
    return Signs(
        near,
        shared,
        narrow,
        mixture.log_ratio(),
        mixture.error(),
        probability,
        mixture.centres,
        mixture.spreads,
    )


class _Mixture:
    def __init__(self, signs: dict[str, Sign], known: Assumed) -> None:
        self.signs = signs
        self.moved = {
            # Narrow answers are rounded to few points, which hides their correlation.
            "judge": (known.judge, known.judge / 2),
            "shared": (known.shared, known.shared / 2),
            "narrow": (0.0, known.narrow),
        }
        self.prior = np.array([1 - known.share, known.share / 2, known.share / 2])
        self.shares = self.prior
        self.centres: dict[str, float] = {}
        self.spreads: dict[str, float] = {}
        for name, sign in signs.items():
            self._set(name, np.ones(sign.value.size), sign, robust=True)

    def fit(self) -> Floats:
        """Estimate centers, spreads and shares; return each worker's probability."""
        for _ in range(_STEPS):
            weight = self._classes()
            for name, sign in self.signs.items():
                self._set(name, weight[0], sign)
            total = weight.sum(axis=1) + _PRIOR_WORKERS * self.prior
            self.shares = total / total.sum()
        return np.asarray(1 - self._classes()[0])

    def log_ratio(self, moved: dict[str, Floats] | None = None) -> Floats:
        programs = self._logs(moved or {})[1:]
        shares = self.shares[1:] / self.shares[1:].sum()
        return np.asarray(np.logaddexp(*(programs + np.log(shares)[:, None])))

    def error(self) -> Floats:
        variance = np.zeros(next(iter(self.signs.values())).value.size)
        for name, sign in self.signs.items():
            step = np.nan_to_num(sign.error)
            up = self.log_ratio({name: sign.value + step})
            variance += ((up - self.log_ratio({name: sign.value - step})) / 2) ** 2
        return np.asarray(np.sqrt(variance))

    def _set(
        self, name: str, weight: Floats, sign: Sign, *, robust: bool = False
    ) -> None:
        told = np.isfinite(sign.value)
        value, error = sign.value[told], sign.error[told]
        if not value.size:
            self._keep(name, 0.0, 0.0)
        elif robust:
            # 1.4826 median distances are a normal distribution's standard deviation.
            centre = float(np.median(value))
            apart = 1.4826 * float(np.median(np.abs(value - centre)))
            self._keep(name, centre, apart**2 - float(np.median(error**2)))
        else:
            counted = weight[told] / (error**2 + self.spreads[name] ** 2)
            total = max(float(counted.sum()), 1e-9)
            centre = float(counted @ value) / total
            beyond = (value - centre) ** 2 - error**2
            self._keep(name, centre, float(counted @ beyond) / total)

    def _keep(self, name: str, centre: float, variance: float) -> None:
        self.centres[name] = centre
        self.spreads[name] = float(np.sqrt(max(variance, _LEAST**2)))

    def _logs(self, moved: dict[str, Floats]) -> Floats:
        logs = np.zeros((3, next(iter(self.signs.values())).value.size))
        for name, sign in self.signs.items():
            value = moved.get(name, sign.value)
            scale = np.sqrt(sign.error**2 + self.spreads[name] ** 2)
            apart = (value - self.centres[name]) / scale
            for k, shift in enumerate(self.moved[name], start=1):
                # Beyond the programs' expectation, the likelihood must not fall.
                at = shift / scale
                toward = (
                    np.minimum(apart * np.sign(shift), np.abs(at))
                    if shift
                    else 0 * apart
                )
                logs[k] = logs[k] + np.nan_to_num(np.abs(at) * toward - at**2 / 2)
        return logs

    def _classes(self) -> Floats:
        logs = self._logs({}) + np.log(self.shares)[:, None]
        return np.asarray(np.exp(logs - np.logaddexp.reduce(logs)))
