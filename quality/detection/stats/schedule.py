"""When a worker meets test questions: by doubt, hardly by order, and always again.

The number of a worker's answers hardly matters, so knowing this rule does not reveal
which items are tests. Careless answers bring tests; careful ones make them rarer.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log
from typing import Any, NamedTuple

#: Answers of a pool, tests and ratings, between two fits of a small pool.
FIT_EVERY = 120
#: Shares of the approved tests: reserved for late tests, and where tests get rarer.
_KEPT, _TAPER = 0.25, 0.2


@dataclass(frozen=True)
class ScheduleOptions:
    """Settings of how test questions are spread over a worker's items.

    Attributes
    ----------
    first : int, default 8
        Tests that each worker meets at the pace of a beginner.
    pace : float, default 0.8
        A beginner's share of tests, over the share of tests in a campaign's rest.
    late : float, default 0.05
        Greatest share of tests after these, for workers without doubt.
    doubt : float, default 0.95
        Share of tests among the items of a worker who is probably careless.
    """

    first: int = 8
    pace: float = 0.8
    late: float = 0.05
    doubt: float = 0.95


class Allowance(NamedTuple):
    """The rest of the tests that staff approved for a campaign.

    Attributes
    ----------
    left : float
        Share of tests among all answers that the campaign may still pay.
    doubt : float
        Falls from 1 to 0 as the tests for doubtful workers run out.
    """

    left: float
    doubt: float = 1.0


def test_probability(
    n_tests: int, p_careless: float, allowance: Allowance, *, options: ScheduleOptions
) -> float:
    """Return the probability that a worker's next item is a test.

    Parameters
    ----------
    p_careless : float
        Estimated probability that the worker is careless.

    Returns
    -------
    float
        If a quarter of a campaign are tests, a careful worker meets about eight in
        forty items; then the share falls to `late`. It rises towards `doubt` while they
        may be careless. It is never below half of `late`; otherwise workers who have
        been careful for long could stop.

    Examples
    --------
    >>> options, allowance = ScheduleOptions(), Allowance(0.25)
    >>> [round(test_probability(0, p, allowance, options=options), 2) for p in (0.02, 0.15)]
    [0.2, 0.25]
    >>> [round(test_probability(12, p, allowance, options=options), 2) for p in (0.02, 0.5)]
    [0.05, 0.95]
    """
    share = options.pace * allowance.left
    if n_tests >= options.first:
        share = min(share, options.late)
    # Uncertain workers are worth asking, not those surely careless or careful. This
    # high power leaves newcomers, who are equally uncertain, hardly above the others.
    doubt = (4 * p_careless * (1 - p_careless)) ** 4 if p_careless < 0.5 else 1.0
    share += max(allowance.doubt * options.doubt - share, 0.0) * doubt
    return min(max(share, options.late / 2), options.doubt)


test_probability.__test__ = False  # type: ignore[attr-defined]  # not a case of pytest's


def affordable(
    n_items: float, n_tests: float, share: float, *, planned: float
) -> Allowance:
    """Keep the share of tests at the approved one.

    Beginners' tests are spread over the whole campaign; of those for doubtful workers,
    a part is reserved for late ones.

    Parameters
    ----------
    n_items : float
        Answers paid so far, tests among them.
    share : float
        Share of tests in the cost that staff approved.
    planned : float
        Answers that the campaign is planned to pay, tests among them.

    Returns
    -------
    Allowance
        With nothing left and no doubt, half of the late ones remain.

    Examples
    --------
    >>> affordable(200, 50, 0.2, planned=1000)
    Allowance(left=0.1875, doubt=1.0)
    >>> affordable(900, 200, 0.2, planned=1000)
    Allowance(left=0.0, doubt=0.0)
    """
    approved = share * planned
    if approved <= 0:
        return Allowance(0.0, 0.0)
    left = min(max(approved - n_tests, 0.0) / max(planned - n_items, 1.0), 1.0)
    ahead = max(planned - n_items, 0.0) / planned
    free = 1 - n_tests / approved - _KEPT * ahead
    return Allowance(left, min(max(free / _TAPER, 0.0), 1.0))


# Whether a worker's newest answers to test questions show that they are careless.
#
# Fast enough for each answer: closed form, of one worker, without the others of the pool.
# It starts from the last fit to all evidence. A worker beyond the stated error waits
# until the whole pool has been assessed. The product and its study use this rule.
Counts = Mapping[Any, tuple[int, int]]
Kinds = Mapping[Any, Sequence[float]]

# How often answers without reading follow a habit; otherwise they are at random.
_FOLLOWED = (0.9, 0.5)
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
        logit += self.log_odds(counts, kinds) - self.log_odds(self.seen or {}, kinds)
        return 1 / (1 + exp(-min(max(logit, -30.0), 30.0)))

    def log_odds(self, counts: Counts, kinds: Kinds) -> float:
        """Return the log-likelihood ratio of careless against careful answers."""
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
        yield from (share * right + (1 - share) * chance for share in _FOLLOWED)
    yield chance


def _inside(p: float) -> float:
    return min(max(p, 1e-9), 1 - 1e-9)


@lru_cache(maxsize=10_000)
def _log_likelihood(counts: tuple[int, int], rate: float, firm: float) -> float:
    right, asked = counts
    a, b = rate * firm, (1 - rate) * firm
    return _log_beta(a + right, b + asked - right) - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
