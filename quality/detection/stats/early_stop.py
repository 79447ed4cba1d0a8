"""Whether a worker's first answers to test questions say that they are careless.

Fast enough for each answer: closed form, of one worker, without the others of the pool.
Who is beyond the stated error waits until the whole pool has been assessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma

Counts = Mapping[str, tuple[int, int]]

#: Mean share right on positive and negative questions of those who do not read: who
#: always says yes, always no, anything, and the opposite.
HABITS = ((0.95, 0.05), (0.05, 0.95), (0.5, 0.5), (0.1, 0.1))
# How firmly the rates of a habit are known: as many imagined answers.
_FIRM = 12.0
# Careful people differ more, and a hard key makes them differ.
_LOOSE = 14.0
#: Never presumed better or worse than this: a key that nobody gets right must not make
#: carefulness look like carelessness, nor one that everybody does.
_RANGE = (0.55, 0.97)


@dataclass(frozen=True)
class EarlyStop:
    """What is presumed of a pool before a worker has answered anything.

    Parameters
    ----------
    share_careless : float
        Share of careless workers, 0 to 1; half at most counts, as nobody begins with
        worse than even odds.
    good : mapping of str to float
        Share right of careful workers, by kind of question.
    """

    share_careless: float = 0.2
    good: Mapping[str, float] | None = None

    def probability(self, counts: Counts, kinds: Sequence[str]) -> float:
        """Give the probability that a worker with these counts is careless.

        Parameters
        ----------
        counts : mapping of str to (right, asked)
            Of each kind of question; kinds that were not asked may be missing.
        kinds : sequence of str
            The positive kind, then the negative one.

        Returns
        -------
        float
            The share presumed where nothing was asked.

        References
        ----------
        Wald (1945), Annals of Mathematical Statistics 16 (a test that stops when it is
        sure); with rates that are not known exactly, as in Berger (1985), section 7.5.

        Examples
        --------
        >>> early = EarlyStop()
        >>> kinds = ["POSITIVE", "NEGATIVE"]
        >>> round(early.probability({}, kinds), 3)
        0.2
        >>> early.probability({"POSITIVE": (3, 3), "NEGATIVE": (0, 4)}, kinds) > 0.97
        True
        >>> early.probability({"POSITIVE": (3, 3), "NEGATIVE": (3, 4)}, kinds) < 0.1
        True
        """
        share = min(max(self.share_careless, 0.01), 0.5)
        careful = 0.0
        for kind in kinds:
            rate = (self.good or {}).get(kind, 0.88)
            rate = min(max(rate, _RANGE[0]), _RANGE[1])
            careful += _log_likelihood(counts.get(kind, (0, 0)), rate, _LOOSE)
        habits = [
            sum(
                _log_likelihood(counts.get(kind, (0, 0)), rate, _FIRM)
                for kind, rate in zip(kinds, rates, strict=True)
            )
            for rates in HABITS
        ]
        top = max(careful, *habits)
        against = share * sum(exp(habit - top) for habit in habits) / len(habits)
        return against / (against + (1 - share) * exp(careful - top))


def _log_likelihood(counts: tuple[int, int], rate: float, firm: float) -> float:
    """Give the beta-binomial log-likelihood of a sequence with so many right."""
    right, asked = counts
    a, b = rate * firm, (1 - rate) * firm
    return _log_beta(a + right, b + asked - right) - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
