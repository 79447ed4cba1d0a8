"""Exact mean labels of stopping rules, and their lower bound."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from leaderboard.stats.stopping.exact import Walk
from leaderboard.stats.stopping.rules import StoppingRule

_FIRST_BLOCK = 1024


@dataclass(frozen=True)
class ExactEffort:
    """How many labels a rule needs, and how often it is wrong, without a horizon.

    Parameters
    ----------
    mean, sd : float
        Of the number of labels up to the decision.
    p_wrong : float
        Chance that the decision is for the worse system (at p = 1/2, of any).
    p_open : float
        Chance that the walk was still undecided after n_max labels.
    """

    mean: float
    sd: float
    p_wrong: float
    p_open: float


def exact_effort(
    rule: StoppingRule, p: float, *, n_max: int = 200_000, negligible: float = 1e-12
) -> ExactEffort:
    """Compute the exact mean number of labels a rule needs to decide.

    Parameters
    ----------
    p : float
        P(A preferred) of every label, 0 <= p <= 1.
    n_max : int, optional
        Labels after which the walk is cut off, at least 1. Near p = 1/2 a rule that
        keeps its promise hardly ever stops, and the figures then describe walks cut
        off here; see `p_open`.
    negligible : float, optional
        Chance of being undecided below which the walk is not followed further.

    Returns
    -------
    ExactEffort
        Walks that were still open count with the labels they had.
    """
    walk = Walk()
    moments = np.zeros(2)
    decided = np.zeros(2)
    n, is_open, block = 0, 1.0, _FIRST_BLOCK
    while n < n_max and is_open > negligible:
        horizon = min(n_max, block)
        below, above = rule.boundaries(horizon)
        while n < horizon and is_open > negligible:
            step = np.array(walk.step(p, int(below[n]), int(above[n])))
            n += 1
            decided += step
            is_open = float(walk.chances.sum())
            moments += step.sum() * np.array([n, n * n], dtype=np.float64)
        # Boundaries are computed in growing blocks, since the length of the walk
        # is unknown.
        block *= 2
    moments += is_open * np.array([n, n * n], dtype=np.float64)
    mean = float(moments[0])
    sd = float(np.sqrt(max(moments[1] - mean**2, 0.0)))
    return ExactEffort(mean, sd, _wrong(p, decided), is_open)


def _wrong(p: float, decided: npt.NDArray[np.float64]) -> float:
    if p == 0.5:
        return float(decided.sum())
    return float(decided[1] if p > 0.5 else decided[0])


@dataclass(frozen=True)
class KnownEffect(StoppingRule):
    """Wald's sequential probability ratio test of p against 1 - p, p being known.

    No rule that keeps delta needs fewer labels on average at this p, and no rule can
    know p: it is a lower bound for comparisons, not a rule to use.

    Parameters
    ----------
    delta : float
        Chance to err per side.
    p : float
        Assumed P(A preferred) when A is better, 1/2 < p < 1.

    References
    ----------
    Wald (1945), Sequential Tests of Statistical Hypotheses, Annals of Mathematical
    Statistics 16(2), section 3; Wald and Wolfowitz (1948) for its optimality.
    """

    p: float = 0.6

    name: ClassVar[str] = "known-effect"
    anytime_valid: ClassVar[bool] = True

    def favours_a(self, n: npt.ArrayLike, total: npt.ArrayLike) -> npt.NDArray[np.bool]:
        """Return whether the likelihood ratio has reached (1 - delta) / delta."""
        count = np.asarray(n, dtype=np.float64)
        lead = 2 * np.asarray(total, dtype=np.float64) - count
        log_ratio = lead * (np.log(self.p) - np.log1p(-self.p))
        return np.asarray(log_ratio >= np.log1p(-self.delta) - np.log(self.delta))
