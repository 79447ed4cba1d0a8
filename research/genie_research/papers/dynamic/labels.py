"""Labeling strategies: how the labels of several workers become one per request.

A request shows one output of each of two systems. All strategies depend on a request
only by the chance that k of the first n workers prefer A; these chances determine the
strategy's outcomes exactly: a final label, and its cost in labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from genie_research.papers.dynamic.running_sums import running_sums
from leaderboard.stats.stopping.rules import Floats, Integers

Bools = npt.NDArray[np.bool]
Uniforms = npt.NDArray[np.float32] | Floats


class VoteSource(Protocol):
    def votes(self, n: int, *, distinct: bool = True) -> Floats:
        """Return the chance of k = 0, ..., n labels for A: shape (n + 1, requests)."""
        ...


@dataclass(frozen=True)
class CollectedVotes:
    """Requests that were labeled more often than a strategy needs.

    Parameters
    ----------
    for_a : array_like of int, shape (requests,)
        How many of the labels of each request prefer A.
    collected : array_like of int, shape (requests,)
        How many labels each request has.
    """

    for_a: npt.ArrayLike
    collected: npt.ArrayLike

    def __post_init__(self) -> None:
        for_a, collected = np.asarray(self.for_a), np.asarray(self.collected)
        if for_a.ndim != 1 or for_a.shape != collected.shape or not for_a.size:
            raise ValueError(
                "Each request needs two counts, and one request is needed."
            )
        are_whole = np.equal(np.mod(for_a, 1), 0) & np.equal(np.mod(collected, 1), 0)
        if not (are_whole & (for_a >= 0) & (for_a <= collected)).all():
            raise ValueError(
                "Labels for A must be whole and at most the labels there are."
            )
        object.__setattr__(self, "for_a", for_a.astype(np.int64))
        object.__setattr__(self, "collected", collected.astype(np.int64))

    def votes(self, n: int, *, distinct: bool = True) -> Floats:
        """Return the chance of k labels for A among n workers who labeled a request.

        Shape (n + 1, requests). Workers are drawn without replacement if `distinct`,
        which raises ValueError if a request has fewer than n labels.
        """
        from scipy import special

        for_a, collected = np.asarray(self.for_a), np.asarray(self.collected)
        fewest = int(collected.min())
        if fewest < (n if distinct else 1):
            raise ValueError(
                f"{n} workers are needed, but a request has only {fewest} labels."
            )
        k = np.arange(n + 1)[:, None]
        if not distinct:
            share = for_a / collected
            binomial: Floats = special.binom(n, k) * share**k * (1 - share) ** (n - k)
            return binomial
        # hypergeometric: the n are different people among those who labeled the
        # request
        ways = special.binom(for_a, k) * special.binom(collected - for_a, n - k)
        return np.asarray(ways / special.binom(collected, n))


@dataclass(frozen=True)
class Outcomes:
    """All outcomes of a request, and their chances.

    Parameters
    ----------
    labels : ndarray of bool, shape (outcomes,)
        Final label of each outcome, True for A. All outcomes for A come first.
    costs : ndarray of int, shape (outcomes,)
        How many labels each outcome is charged.
    chances : ndarray, shape (outcomes, requests)
        Chance of each outcome of each request; columns sum to 1.
    """

    labels: Bools
    costs: Integers
    chances: Floats

    @property
    def n_requests(self) -> int:
        return int(self.chances.shape[1])

    @property
    def p_a(self) -> Floats:
        """Return the chance that the final label of each request is A."""
        return np.asarray(self.chances[self.labels].sum(axis=0))

    def draw(self, runs: int, rng: np.random.Generator) -> LabelSeries:
        """Draw every request once in each of `runs` runs."""
        edges = np.cumsum(self.chances, axis=0)[:-1, None, :]
        return draw_series(self, edges, (runs, self.n_requests), rng)


@dataclass(frozen=True)
class LabelSeries:
    """Final labels of many runs, and the cost of each.

    Parameters
    ----------
    labels : ndarray of bool, shape (runs, requests)
        True if the final label is A.
    costs : int or ndarray of int, shape (runs, requests)
        Labels charged for each request; one number if it is always the same.
    """

    labels: Bools
    costs: int | npt.NDArray[np.int8]

    def cost_of_first(self, n: Integers) -> Integers:
        """Return the cost of the first n requests of each run; n of shape (runs,)."""
        if isinstance(self.costs, int):
            return np.asarray(self.costs * n, dtype=np.int64)
        sums = running_sums(self.costs)
        last = np.maximum(n, 1) - 1
        paid = np.take_along_axis(sums, last[:, None], axis=1)[:, 0]
        return np.where(n > 0, paid, 0).astype(np.int64)


def draw_series(
    outcomes: Outcomes,
    edges: Floats,
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> LabelSeries:
    """Draw labels and costs by comparing uniform numbers with cumulative chances.

    Parameters
    ----------
    edges : ndarray, shape (outcomes - 1, runs or 1, requests or 1)
        Cumulative chances of all outcomes but the last.
    shape : (int, int)
        Runs and requests to draw.

    Notes
    -----
    Uniform numbers of 16 bits cost a fraction of longer ones. The part of a chance beyond
    16 bits decides with a separate random number, per request of this call, whether it is
    rounded up or down: every single chance stays exact, and two runs share a covariance of
    at most 6e-11.

    Examples
    --------
    >>> sure = Outcomes(np.array([True, False]), np.array([1, 1]), np.array([[1], [0]]))
    >>> draw_series(sure, np.ones((1, 1, 1)), (2, 3), np.random.default_rng(1)).labels
    array([[ True,  True,  True],
           [ True,  True,  True]])
    """
    uniforms = _uniforms_16_bit(shape, rng)
    limits = np.ceil(edges * 2**16 - rng.random(edges.shape[1:])).astype(np.int64)
    labels = _is_below(uniforms, limits[int(outcomes.labels.sum()) - 1])
    if (outcomes.costs == outcomes.costs[0]).all():
        return LabelSeries(labels, int(outcomes.costs[0]))
    costs = np.full(shape, outcomes.costs[-1], dtype=np.int8)
    for limit, step in zip(limits, np.diff(outcomes.costs), strict=True):
        if step:
            costs -= _is_below(uniforms, limit).view(np.int8) * np.int8(step)
    return LabelSeries(labels, costs)


def _uniforms_16_bit(
    shape: tuple[int, int], rng: np.random.Generator
) -> npt.NDArray[np.uint16]:
    n_words = -(-shape[0] * shape[1] // 4)
    words = rng.integers(0, 2**64, size=n_words, dtype=np.uint64).astype("<u8")
    return words.view("<u2")[: shape[0] * shape[1]].reshape(shape)


def _is_below(uniforms: npt.NDArray[np.uint16], limit: Integers) -> Bools:
    # a limit of 65,536 means "always" and does not fit the 16 bits
    below = uniforms < np.minimum(limit, 2**16 - 1).astype(np.uint16)
    always = limit >= 2**16
    if always.any():
        below |= always
    return np.asarray(below)


class Strategy(ABC):
    """A way to get one final label per request."""

    #: Name of the strategy in tables.
    name: ClassVar[str]

    @abstractmethod
    def outcomes(self, source: VoteSource) -> Outcomes: ...


@dataclass(frozen=True)
class OneWorker(Strategy):
    """One worker per request, a different one drawn each time."""

    name: ClassVar[str] = "One Worker"

    def outcomes(self, source: VoteSource) -> Outcomes:
        """Return the outcomes: A or B, at the cost of one label."""
        votes = source.votes(1)
        return Outcomes(np.array([True, False]), np.array([1, 1]), votes[::-1])


@dataclass(frozen=True)
class Majority(Strategy):
    """N workers per request; the majority's label counts.

    Parameters
    ----------
    n : int
        Number of workers, odd.
    distinct : bool, optional
        Whether the N are different people.
    """

    n: int
    distinct: bool = True

    name: ClassVar[str] = "N Workers"

    def outcomes(self, source: VoteSource) -> Outcomes:
        """Return the outcomes: the side of the majority, at the cost of n labels."""
        votes = source.votes(self.n, distinct=self.distinct)
        for_a = votes[self.n // 2 + 1 :].sum(axis=0)
        costs = np.array([self.n, self.n])
        return Outcomes(np.array([True, False]), costs, np.array([for_a, 1 - for_a]))


@dataclass(frozen=True)
class MaxThree(Strategy):
    """Two workers per request, and a third one only if they disagree.

    Parameters
    ----------
    distinct : bool, optional
        Whether the workers of a request are different people.
    slip : {None, "A", "B"}, optional
        Charge three labels instead of two if the first two agree on this side. This is
        an error of the published code, kept so that its tables can be recomputed; None,
        the right cost, is the default.

    References
    ----------
    Thorleiksdóttir et al. (2022), section 3.1.
    """

    distinct: bool = True
    slip: Literal["A", "B"] | None = None

    name: ClassVar[str] = "Max 3 Workers"

    def outcomes(self, source: VoteSource) -> Outcomes:
        """Return the outcomes: agreement at two labels, or the third worker's side."""
        pair = source.votes(2, distinct=self.distinct)
        three = source.votes(3, distinct=self.distinct)
        # of the orders in which two of three agree, two in three split the first pair
        chances = np.array([pair[2], three[2] * 2 / 3, three[1] * 2 / 3, pair[0]])
        costs = [3 if self.slip == "A" else 2, 3, 3, 3 if self.slip == "B" else 2]
        return Outcomes(np.array([True, True, False, False]), np.array(costs), chances)
