"""Whether a worker's newest answers to test questions show that they are careless.

Fast enough for each answer: closed form, of one worker, without the others of the pool.
It starts from the last fit to all evidence. A worker beyond the stated error waits
until the whole pool has been assessed. The product and its study use this rule.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log
from typing import Any

Counts = Mapping[Any, tuple[int, int]]
Kinds = Mapping[Any, Sequence[float]]

# Probability that a habit is followed, and the accuracy of opposite answers.
_FOLLOWED, _OPPOSITE = 0.95, 0.1
# Certainty about the rates of a habit, in imagined answers.
_FIRM = 12.0
# Careful people differ more, also because of a hard key.
_LOOSE = 14.0
#: Accuracy is clipped to this range: a key that all workers fail must not make
#: careful workers look careless, nor one that all workers get right.
_RANGE = (0.55, 0.97)


@dataclass(frozen=True)
class EarlyStop:
    """Prior knowledge about a worker, and about the pool's key.

    Parameters
    ----------
    before : float
        Probability of being careless by the last fit to all evidence, or the share
        of careless workers presumed of a pool that has none.
    good : mapping to float, optional
        Share right of careful workers, by kind of question.
    seen : mapping to (right, asked), optional
        Test questions that the fit has seen, by kind.
    """

    before: float = 0.2
    good: Mapping[Hashable, float] | None = None
    seen: Counts | None = None

    def probability(self, counts: Counts, kinds: Kinds) -> float:
        """Return the probability that a worker with these counts is careless.

        Parameters
        ----------
        counts : mapping to (right, asked)
            Of each kind of question, including those in the last fit; kinds that
            were not asked may be missing.
        kinds : mapping to tuple of float
            Probability of a right answer without reading on each kind: at random,
            then by each habit.

        Returns
        -------
        float
            `before` if nothing was asked since.

        References
        ----------
        Wald (1945), Annals of Mathematical Statistics 16 (a test that stops when it is
        sure); with rates that are not known exactly, as in Berger (1985), section 7.5.

        Examples
        --------
        >>> early = EarlyStop()
        >>> kinds = {"POSITIVE": (0.5, 1.0, 0.0), "NEGATIVE": (0.5, 0.0, 1.0)}
        >>> round(early.probability({}, kinds), 3)
        0.2
        >>> early.probability({"POSITIVE": (3, 3), "NEGATIVE": (0, 4)}, kinds) > 0.97
        True
        >>> early.probability({"POSITIVE": (3, 3), "NEGATIVE": (3, 4)}, kinds) < 0.1
        True
        """
        logit = log(_inside(self.before) / (1 - _inside(self.before)))
        logit += self._ratio(counts, kinds) - self._ratio(self.seen or {}, kinds)
        return 1 / (1 + exp(-min(max(logit, -30.0), 30.0)))

    def _ratio(self, counts: Counts, kinds: Kinds) -> float:
        if not kinds:
            return 0.0
        careful = 0.0
        for kind in kinds:
            rate = min(max((self.good or {}).get(kind, 0.88), _RANGE[0]), _RANGE[1])
            careful += _log_likelihood(counts.get(kind, (0, 0)), rate, _LOOSE)
        habits = [
            sum(
                _log_likelihood(counts.get(kind, (0, 0)), rate, _FIRM)
                for kind, rate in zip(kinds, rates, strict=True)
            )
            for rates in dict.fromkeys(zip(*map(_rates, kinds.values()), strict=True))
        ]
        top = max(habits)
        total = sum(exp(habit - top) for habit in habits) / len(habits)
        return top + log(total) - careful


def _rates(guesses: Sequence[float]) -> Iterator[float]:
    chance, *habits = guesses
    for right in habits:
        yield right * _FOLLOWED + (1 - right) * (1 - _FOLLOWED)
    yield from (chance, _OPPOSITE)


def _inside(p: float) -> float:
    return min(max(p, 1e-9), 1 - 1e-9)


@lru_cache(maxsize=10_000)
def _log_likelihood(counts: tuple[int, int], rate: float, firm: float) -> float:
    right, asked = counts
    a, b = rate * firm, (1 - rate) * firm
    return _log_beta(a + right, b + asked - right) - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
