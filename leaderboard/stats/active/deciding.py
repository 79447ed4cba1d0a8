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

from leaderboard.stats.comparisons import Ints, compare
from leaderboard.stats.resampling import Floats
from leaderboard.stats.significance import significance_clusters

Truths = npt.NDArray[np.bool_]
# How differences are bet on: as in the rule of comparisons of two.
_BETA = 10.0


@dataclass(frozen=True)
class Labels:
    """What came back of pairs that were drawn with the same propensities.

    Parameters
    ----------
    first, second : ndarray of int, shape (m,)
        Systems compared, numbered from 0.
    outcome : ndarray of int, shape (m,)
        1 when the first was preferred, 0 for a tie, -1 when the second was.
    worker : ndarray of int, shape (m,)
        Who gave each label, numbered from 0 over all batches.
    propensities : ndarray, shape (s, s)
        Entry i, j: probability with which each label was drawn to be of i and j;
        symmetric, above 0 where there are labels; sums to 1 over pairs.
    """

    first: Ints
    second: Ints
    outcome: Ints
    worker: Ints
    propensities: Floats

    def __post_init__(self) -> None:
        chances = self.propensities
        square = chances.ndim == 2 and chances.shape[0] == chances.shape[1]
        if not square or not np.array_equal(chances, chances.T):
            raise ValueError("Every pair of systems needs one propensity.")
        if (chances[self.first, self.second] <= 0).any():
            raise ValueError("A pair has labels that could not have been drawn.")
        if self.worker.shape != self.first.shape or (self.worker < 0).any():
            raise ValueError(
                "Every label needs the worker who gave it, numbered from 0."
            )


def clusters_of(better: Truths) -> list[int]:
    """Cut systems into clusters by what was decided of them.

    Parameters
    ----------
    better : ndarray of bool, shape (s, s)
        Entry i, j: i is better than j.

    Returns
    -------
    list of int
        Cluster of each system, 1 the best; all of one beat all of the next.

    Examples
    --------
    >>> clusters_of(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    [1, 1, 2]
    """
    # of a cut, all above beat all below: they beat more than they lose to
    lead = better.sum(axis=1) - better.sum(axis=0)
    return significance_clusters(lead, better)


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
        n = self.n_systems
        if len(labels.propensities) != n:
            raise ValueError(f"These labels are not of {n} systems.")
        games = compare(labels.first, labels.second, labels.outcome, n)
        self.wins = self.wins + games.wins
        self.ties = self.ties + games.ties
        evidence = self.evidence
        while True:
            new = (evidence >= self.threshold) & self.undecided
            if not new.any():
                return self.better
            self.better = self.better | new
            if self.transitive:
                self._close()

    def _close(self) -> None:
        for middle in range(self.n_systems):
            through = self.better[:, middle][:, None] & self.better[middle][None, :]
            self.better = self.better | through


class PairByPair(Deciding):
    """Which of two systems is preferred when both are shown, for every pair.

    What other pairs' labels say is not used, nor are propensities: whatever decides which
    pair is asked next, the labels of a pair are a series of their own. Preferences may run
    in a circle, so that nothing follows for pairs that were not decided themselves.

    Notes
    -----
    Assumes that, given the labels before it, a label of a pair prefers one side with the
    same probability: instances and workers come in random order, and no worker gives many
    of the labels of a pair.

    References
    ----------
    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by
    betting, JRSS B 86(1), section 3; `stopping.betting.BetaMixture` is the same bet.

    Examples
    --------
    >>> deciding = PairByPair(3, delta=0.05)
    >>> first, second, won = np.repeat([[0], [1], [1]], 40, axis=1)
    >>> evenly = (1 - np.eye(3)) / 3
    >>> labels = Labels(first, second, won, np.arange(40), evenly)
    >>> deciding.add(labels).astype(int).tolist()
    [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
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
        return np.asarray((self.wins - self.wins.T) / 2 / (n + _BETA))


class AgainstTheField(Deciding):
    """Which of two systems is preferred more often against all the others.

    A system's share is the mean, over the other systems, of the probability to be
    preferred to each, ties counting one half. Labels of all pairs of either system count,
    each divided by the propensity with which it was drawn, so that what was asked more
    often does not weigh more. Shares have an order, so that decisions follow from others.

    Notes
    -----
    A worker likes some systems more than others do, and all their labels share that: what
    varies is what workers say in all. Let S be the sum of what workers add to the lead of
    i over j and V the sum of the squares; the bet is exp(S^2 / 2 (V + r)) times the root
    of r / (V + r). Of equally good systems it is worth 1 on average if, given what others
    said, a worker's sum is as likely to be above 0 as below by as much. That is exact for
    workers who come one after the other; where they come back in later batches, it is
    what the replays of `replay_pairing` measure. Few workers decide nothing, whatever
    they say: S^2 is at most V times their number.

    References
    ----------
    Horvitz and Thompson (1952), JASA 47 (propensities); de la Peña (1999), A general class
    of exponential inequalities for martingales and ratios, Annals of Probability 27(1),
    section 6 (symmetric summands); Heckel et al. (2019), Active ranking from pairwise
    comparisons, Annals of Statistics 47(6) (this share).

    Examples
    --------
    >>> deciding = AgainstTheField(3, delta=0.05)
    >>> first, second = np.tile([[0, 0, 1], [1, 2, 2]], 60)
    >>> won, worker = np.ones(180, dtype=int), np.repeat(np.arange(60), 3)
    >>> labels = Labels(first, second, won, worker, (1 - np.eye(3)) / 3)
    >>> deciding.add(labels).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> deciding.shares.tolist()
    [1.0, 0.5, 0.0]
    """

    transitive = True

    def __init__(self, n_systems: int, *, delta: float) -> None:
        super().__init__(n_systems, delta=delta)
        # what each worker adds to each system's share, in all
        self._leans = np.zeros((0, n_systems))
        self._peak = np.full((n_systems, n_systems), -np.inf)
        self._n = 0

    @property
    def evidence(self) -> Floats:
        """Entry i, j: log of the highest wealth so far of bets that i's share is higher."""
        return self._peak

    @property
    def shares(self) -> Floats:
        """Estimate of each system's share; one half without labels; may leave [0, 1]."""
        return np.asarray(0.5 + self._leans.sum(axis=0) / max(self._n, 1))

    @property
    def gaps(self) -> Floats:
        """Entry i, j: difference of the estimated shares."""
        return np.asarray(self.shares[:, None] - self.shares[None, :])

    def add(self, labels: Labels) -> Truths:
        """Take labels, and give what is decided after them."""
        self._lean(labels)
        return super().add(labels)

    def _lean(self, labels: Labels) -> None:
        n = self.n_systems
        n_new = int(labels.worker.max(initial=-1)) + 1 - len(self._leans)
        self._leans = np.pad(self._leans, ((0, max(n_new, 0)), (0, 0)))
        chance = labels.propensities[labels.first, labels.second]
        lean = labels.outcome / 2 / ((n - 1) * chance)
        np.add.at(self._leans, (labels.worker, labels.first), lean)
        np.add.at(self._leans, (labels.worker, labels.second), -lean)
        self._n += len(lean)
        products = self._leans.T @ self._leans
        own = np.diag(products)
        squares = np.maximum(own[:, None] + own[None, :] - 2 * products, 0)
        total = self._leans.sum(axis=0)
        lead = total[:, None] - total[None, :]
        # made for some hundred labels of each system, if workers were alike
        mixed = 25.0 * n**2
        wealth = np.log(mixed / (squares + mixed)) / 2 + lead**2 / 2 / (squares + mixed)
        wealth = np.where(lead > 0, wealth + np.log(2), -np.inf)
        self._peak = np.maximum(self._peak, wealth)
