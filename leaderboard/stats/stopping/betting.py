"""Rules that bet: the beta mixture, and Wald's test as a lower bound for all."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from leaderboard.stats.stopping.rules import ConfidenceRule, Floats

_BISECTIONS = 60  # halvings of [0, 1]: the ends are right to 1e-18


@dataclass(frozen=True)
class BetaMixture(ConfidenceRule):
    """Betting against every P(A preferred) with stakes mixed over Beta(a, b).

    The wealth of a bet against p after s labels for A and f for B is
    B(a + s, b + f) / (B(a, b) p^s (1 - p)^f); all p against which it stays below
    1 / (2 delta) form the interval. By Ville's inequality it holds at all n together;
    for labels between 0 and 1 too, as a power mean lies below the arithmetic mean.

    Parameters
    ----------
    delta : float
        Chance to err per side; for p = 1/2 and a = b the two sides share 2 delta.
    a, b : float
        Beta parameters of the mixture, positive. Beta(10, 10) bets on differences of
        about 10 points; Beta(1, 1) on anything.

    References
    ----------
    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by
    betting, JRSS B 86(1), section 3; Howard et al. (2021), section 3.2
    (beta-binomial mixture); Ville (1939).

    Examples
    --------
    >>> rule = BetaMixture(delta=0.01)
    >>> [bool(rule.favours_a(n, n)) for n in (17, 18)]
    [False, True]
    >>> [end.round(4).item() for end in rule.interval(100, 70)]
    [0.5273, 0.8409]
    """

    a: float = 10.0
    b: float = 10.0

    name: ClassVar[str] = "beta-mixture"
    anytime_valid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 < self.a < np.inf and 0 < self.b < np.inf):
            raise ValueError(
                f"a and b must be positive numbers, not {self.a} and {self.b}."
            )

    def _log_mixture(self, n: Floats, total: Floats) -> Floats:
        from scipy import special

        log_beta: Floats = special.betaln(self.a + total, self.b + n - total)
        return log_beta - special.betaln(self.a, self.b)

    def _decides(self, n: Floats, total: Floats) -> npt.NDArray[np.bool]:
        # logarithms throughout: the wealth itself overflows after some thousand labels
        wealth = self._log_mixture(n, total) + n * np.log(2)
        return np.asarray(wealth >= -np.log(2 * self.delta))

    def favours_a(self, n: npt.ArrayLike, total: npt.ArrayLike) -> npt.NDArray[np.bool]:
        """Return whether the bet against 1/2 has won enough, with A in the lead."""
        count = np.asarray(n, dtype=np.float64)
        sums = np.asarray(total, dtype=np.float64)
        return self._decides(count, sums) & (sums > count / 2)

    def favours_b(self, n: npt.ArrayLike, total: npt.ArrayLike) -> npt.NDArray[np.bool]:
        """Return whether the bet against 1/2 has won enough, with B in the lead."""
        count = np.asarray(n, dtype=np.float64)
        sums = np.asarray(total, dtype=np.float64)
        return self._decides(count, sums) & (sums < count / 2)

    def interval(self, n: npt.ArrayLike, total: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return all p against which the bet has not won 1 / (2 delta)."""
        from scipy import special

        count, sums = np.broadcast_arrays(
            np.asarray(n, dtype=np.float64), np.asarray(total, dtype=np.float64)
        )
        limit = self._log_mixture(count, sums) + np.log(2 * self.delta)
        mean = sums / count
        ends = []
        for outer in (np.zeros_like(mean), np.ones_like(mean)):
            rejected, kept = outer, mean
            for _ in range(_BISECTIONS):
                p = (rejected + kept) / 2
                fit = special.xlogy(sums, p) + special.xlog1py(count - sums, -p)
                lost = fit <= limit  # the bet against p has won
                rejected, kept = np.where(lost, p, rejected), np.where(lost, kept, p)
            # the rejected side of the last step: the interval is slightly too wide,
            # never too narrow
            ends.append(np.where(mean == outer, outer, rejected))
        return ends[0], ends[1]
