"""The combined signs: a program's likelihood over a person's, with an error.

Three classes of workers: people, programs whose answers vary as people's, programs
whose answers are narrow. Each sign is normal among people, around the crowd's own
center with the crowd's own spread and the worker's own error; among programs it is
moved by a stated amount. Centers, spreads and the shares of the classes are estimated
together (EM).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.authenticity.stats.answers import Answers, deserved
from quality.authenticity.stats.signs import Sign, shared_words, similarity, spread
from quality.counts import Floats

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

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> who, text = np.repeat(np.arange(10), 60), np.tile(np.arange(60), 10)
    >>> quality, model = rng.normal(size=60), rng.normal(size=60)
    >>> value = np.where(who < 2, model[text], quality[text]) + rng.normal(size=600)
    >>> signs = assess_authenticity(Answers(who, text, text, 0 * text, value, model[text]))
    >>> sorted(np.argsort(signs.log_ratio)[-2:].tolist())
    [0, 1]
    """
    known = assumed or Assumed()
    judged = answers.judged
    nothing = np.full(answers.n_workers, np.nan)
    shared = Sign(nothing, nothing, np.zeros(answers.n_workers, dtype=np.int64))
    probability = np.zeros(answers.n_workers)
    held = (judged,) if np.isfinite(judged).any() else ()
    for step in range(known.rounds + 1):
        expected = deserved(answers, 1 - probability)
        near = similarity(answers, judged, expected)
        narrow = spread(answers, expected)
        if step:
            words = shared_words(answers, probability)
            shared = similarity(answers, words, expected, *held)
        mixture = _Mixture({"judge": near, "shared": shared, "narrow": narrow}, known)
        probability = mixture.fit()
    log_ratio = mixture.log_ratio()
    return Signs(
        near,
        shared,
        narrow,
        log_ratio,
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
            down = self.log_ratio({name: sign.value - step})
            variance += ((up - down) / 2) ** 2
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
