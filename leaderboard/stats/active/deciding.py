"""Which of many systems is better than which, however it was chosen what to ask.

Two questions, each with an answer that holds at any time and whatever was asked first:
`PairByPair` asks of each pair which of the two is preferred; `AgainstTheField` asks which
of two systems is preferred more often against all the others. Neither takes for granted
that preferences are transitive. The chance that any decision is ever wrong is at most
delta, for all pairs together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats
from leaderboard.stats.significance import significance_clusters

#: What decisions take for granted, in words.
ASSUMES = (
    "It assumes that, given all labels before it and the pair of systems, a label prefers "
    "the one with the same probability: instances and workers come in random order, and no "
    "worker gives many of the labels."
)
Truths = npt.NDArray[np.bool_]
# How differences are bet on: as in the rule of comparisons of two.
_BETA = 10.0
# Stakes on the field, as shares of the highest that cannot lose everything: mixed, as
# nobody knows the difference that is bet on.
_STAKES = 0.9 * 2.0 ** (-0.75 * np.arange(8))


@dataclass(frozen=True)
class Labels:
    """What came back of pairs that were drawn with the same propensities.

    Parameters
    ----------
    wins : ndarray, shape (s, s)
        Entry i, j: labels that prefer i to j; the diagonal is 0.
    ties : ndarray, shape (s, s)
        Entry i, j: labels that prefer neither; symmetric.
    propensities : ndarray, shape (s, s)
        Entry i, j: probability with which each label was drawn to be of i and j;
        symmetric, above 0 where there are labels; sums to 1 over pairs.
    """

    wins: Floats
    ties: Floats
    propensities: Floats


class Deciding(ABC):
    """Evidence on every pair, and what it has decided so far.

    Parameters
    ----------
    n_systems : int
        At least 2.
    delta : float
        Chance that any of all decisions is wrong, 0 < delta < 1.

    Raises
    ------
    ValueError
        On fewer systems, or another delta.

    Notes
    -----
    Each pair has a test martingale for either direction. A direction is decided once its
    martingale reaches (2 m - k) / delta for m pairs of which k are decided: of a pair that
    is rightly decided, one direction only is a true hypothesis, so that as many are left
    at most. Decisions stay.

    References
    ----------
    Ville (1939); Holm (1979), A simple sequentially rejective multiple test procedure;
    Shaffer (1986), Modified sequentially rejective multiple test procedures, JASA 81
    (hypotheses that cannot all be true).
    """

    #: whether i above j and j above k say that i is above k
    transitive: bool

    def __init__(self, n_systems: int, *, delta: float) -> None:
        if n_systems < 2 or not 0 < delta < 1:
            raise ValueError(
                "At least two systems and a delta between 0 and 1 are needed, not "
                f"{n_systems} and {delta}."
            )
        self.delta = delta
        self.wins = np.zeros((n_systems, n_systems))
        self.ties = np.zeros((n_systems, n_systems))
        #: entry i, j: i is decided to be better than j
        self.better: Truths = np.zeros((n_systems, n_systems), dtype=np.bool_)

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.wins)

    @property
    def undecided(self) -> Truths:
        """Entry i, j: nothing is decided of i and j; False on the diagonal."""
        return ~(self.better | self.better.T | np.eye(self.n_systems, dtype=np.bool_))

    @property
    def threshold(self) -> float:
        """Logarithm of the evidence that decides the next pair."""
        n_pairs = self.n_systems * (self.n_systems - 1) // 2
        n_left = 2 * n_pairs - int(self.better.sum())
        return float(np.log(n_left / self.delta))

    @property
    @abstractmethod
    def evidence(self) -> Floats:
        """Entry i, j: logarithm of the evidence that i is better than j."""

    @property
    @abstractmethod
    def gaps(self) -> Floats:
        """Entry i, j: estimate of what is decided on; above 0 where i is better."""

    def add(self, labels: Labels) -> Truths:
        """Take labels, and give what is decided after them."""
        _check(labels, self.n_systems)
        self.wins = self.wins + labels.wins
        self.ties = self.ties + labels.ties
        self._take(labels)
        evidence = self.evidence
        while True:
            new = (evidence >= self.threshold) & self.undecided
            if not new.any():
                return self.better
            self.better = self.better | new
            if self.transitive:
                self._close()

    @property
    def clusters(self) -> list[int]:
        """Cluster of each system, 1 the best, as `significance_clusters` cuts them."""
        # whoever beats more stands above: of a cut, all above beat all below
        lead = self.better.sum(axis=1) - self.better.sum(axis=0)
        return significance_clusters(lead, self.better)

    def _take(self, labels: Labels) -> None:
        """Note what the evidence needs beside the sums."""

    def _close(self) -> None:
        for middle in range(self.n_systems):
            through = self.better[:, middle][:, None] & self.better[middle][None, :]
            self.better = self.better | through


class PairByPair(Deciding):
    """Which of two systems is preferred when both are shown, for every pair.

    What other pairs' labels say is not used, nor are propensities: whatever decides which
    pair is asked next, the labels of a pair are a series of their own. Preferences may run
    in a circle, so that nothing follows for pairs that were not decided themselves.

    References
    ----------
    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by
    betting, JRSS B 86(1), section 3; `stopping.betting.BetaMixture` is the same bet.

    Examples
    --------
    >>> deciding = PairByPair(3, delta=0.05)
    >>> wins = np.array([[0, 40.0, 1], [0, 0, 0], [1, 0, 0]])
    >>> evenly = (1 - np.eye(3)) / 3
    >>> deciding.add(Labels(wins, np.zeros((3, 3)), evenly)).tolist()[0]
    [False, True, False]
    """

    transitive = False

    @property
    def evidence(self) -> Floats:
        """Entry i, j: log of twice the wealth of bets against 1/2, where i leads."""
        from scipy import special

        n = self.wins + self.wins.T + self.ties
        total = self.wins + self.ties / 2
        wealth = special.betaln(_BETA + total, _BETA + n - total)
        wealth += n * np.log(2) - special.betaln(_BETA, _BETA)
        # both sides share a bet: one alone errs half as often
        return np.where(total > n / 2, wealth + np.log(2), -np.inf)

    @property
    def gaps(self) -> Floats:
        """Entry i, j: P(i preferred to j) less one half, drawn towards 0."""
        n = self.wins + self.wins.T + self.ties
        gaps = (self.wins - self.wins.T) / 2 / (n + _BETA)
        return np.asarray(gaps)


class AgainstTheField(Deciding):
    """Which of two systems is preferred more often against all the others.

    A system's share is the mean, over the other systems, of the probability to be
    preferred to each, ties counting one half. Labels of all pairs of either system count,
    each divided by the propensity with which it was drawn, so that what was asked more
    often does not weigh more. Shares have an order, so that decisions follow from others.

    References
    ----------
    Horvitz and Thompson (1952), JASA 47 (propensities); Waudby-Smith et al. (2024),
    Anytime-valid off-policy inference, ACM/IMS J. Data Science 1(3); Heckel et al. (2019),
    Active ranking from pairwise comparisons, Annals of Statistics 47(6) (this share).

    Examples
    --------
    >>> deciding = AgainstTheField(3, delta=0.05)
    >>> wins = np.array([[0, 60.0, 60], [0, 0, 60], [0, 0, 0]])
    >>> evenly = (1 - np.eye(3)) / 3
    >>> deciding.add(Labels(wins, np.zeros((3, 3)), evenly)).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> deciding.shares.tolist()
    [1.0, 0.5, 0.0]
    """

    transitive = True

    def __init__(self, n_systems: int, *, delta: float) -> None:
        super().__init__(n_systems, delta=delta)
        shape = (len(_STAKES), n_systems, n_systems)
        self._wealth = np.zeros(shape)
        self._peak = np.full((n_systems, n_systems), -np.inf)
        self._lean = np.zeros(n_systems)
        self._n = 0.0

    @property
    def evidence(self) -> Floats:
        """Entry i, j: log of the highest wealth so far of bets that i's share is higher."""
        return self._peak

    @property
    def shares(self) -> Floats:
        """Estimate of each system's share; one half without labels; may leave [0, 1]."""
        return 0.5 + self._lean / max(self._n, 1.0)

    @property
    def gaps(self) -> Floats:
        """Entry i, j: difference of the estimated shares."""
        return np.asarray(self.shares[:, None] - self.shares[None, :])

    def _take(self, labels: Labels) -> None:
        from scipy import special

        worth = _worth(labels.propensities)
        won, lost = labels.wins, labels.wins.T
        own, other = _moves(worth)
        # the most that a label can take from i above j: no stake may lose everything
        most = np.maximum(own.max(axis=2), other.max(axis=2))
        safe = 1 / np.maximum(most, self.n_systems / 2)
        for wealth, stake in zip(self._wealth, _STAKES, strict=True):
            staked = stake * safe
            one, two = staked[:, :, None] * own, staked[:, :, None] * other
            wealth += np.einsum("ijx,ix->ij", np.log1p(one), won)
            wealth += np.einsum("ijx,ix->ij", np.log1p(-one), lost)
            wealth += np.einsum("ijx,jx->ij", np.log1p(two), lost)
            wealth += np.einsum("ijx,jx->ij", np.log1p(-two), won)
        level = special.logsumexp(self._wealth, axis=0) - np.log(len(_STAKES))
        self._peak = np.maximum(self._peak, level)
        self._lean += ((won - lost) * worth).sum(axis=1)
        self._n += (won.sum() + labels.ties.sum() / 2).item()


def _worth(propensities: Floats) -> Floats:
    """Give what a win adds to the share of a system: one half over the propensity."""
    n_systems = len(propensities)
    worth = np.zeros_like(propensities)
    drawn = propensities > 0
    worth[drawn] = 0.5 / ((n_systems - 1) * propensities[drawn])
    return worth


def _moves(worth: Floats) -> tuple[Floats, Floats]:
    """Give how far a label moves i above j: of i against x, and of j against x.

    A label of i and j themselves moves both, and is among those of i.
    """
    n_systems = len(worth)
    every = np.arange(n_systems)
    own = np.repeat(worth[:, None, :], n_systems, axis=1)
    other = np.repeat(worth[None, :, :], n_systems, axis=0)
    own[:, every, every] *= 2
    other[every, :, every] = 0
    return own, other


def _check(labels: Labels, n_systems: int) -> None:
    tables = (labels.wins, labels.ties, labels.propensities)
    if any(table.shape != (n_systems, n_systems) for table in tables):
        raise ValueError(f"Labels need tables of {n_systems} by {n_systems} systems.")
    if any((table < 0).any() or np.diag(table).any() for table in tables):
        raise ValueError(
            "Numbers of labels and propensities are 0 or more, 0 within one."
        )
    drawn = labels.wins + labels.wins.T + labels.ties > 0
    if (labels.propensities[drawn] <= 0).any():
        raise ValueError("A pair has labels that could not have been drawn.")
    if not np.array_equal(labels.propensities, labels.propensities.T):
        raise ValueError("The propensity of a pair is that of both its systems.")
