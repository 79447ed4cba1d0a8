"""Which of many systems is better than which, however it was chosen what to ask."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats

Truths = npt.NDArray[np.bool_]
# How differences are bet on: as in the rule of comparisons of two.
_BETA = 10.0


class PairByPair:
    """Which of two systems is preferred when both are shown, for every pair.

    What other pairs' labels say is not used, nor are propensities: whatever decides which
    pair is asked next, the labels of a pair are a series of their own. Preferences may run
    in a circle, so that nothing follows for pairs that were not decided themselves.

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
    at most.

    Assumes that, given the labels before it, a label of a pair prefers one side with the
    same probability: instances and workers come in random order, and no worker gives many
    of the labels of a pair.

    References
    ----------
    Ville (1939); Holm (1979), A simple sequentially rejective multiple test procedure;
    Shaffer (1986), Modified sequentially rejective multiple test procedures, JASA 81
    (hypotheses that cannot all be true); Waudby-Smith and Ramdas (2024), Estimating means
    of bounded random variables by betting, JRSS B 86(1), section 3;
    `stopping.betting.BetaMixture` is the same bet.

    Examples
    --------
    >>> deciding = PairByPair(3, delta=0.05)
    >>> deciding.wins[0, 1] = 40
    >>> (deciding.evidence >= deciding.threshold).astype(int).tolist()
    [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    """

    def __init__(self, n_systems: int, *, delta: float) -> None:
        if n_systems < 2 or not 0 < delta < 1:
            raise ValueError(
                "At least two systems and a delta between 0 and 1 are needed, not "
                f"{n_systems} and {delta}."
            )
        self.delta = delta
        #: entry i, j: labels that prefer i to j
        self.wins = np.zeros((n_systems, n_systems))
        #: entry i, j: labels that prefer neither; symmetric
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
