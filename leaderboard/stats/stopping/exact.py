"""What a stopping rule does, computed exactly instead of simulated.

The sum of independent labels is a random walk; the chance of each sum that has not
stopped yet is carried from label to label (dynamic programming), so errors of one in a
million come out as precisely as those of one in ten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.stopping.rules import Floats, Integers, StoppingRule

_FIRST_BLOCK = 1024


@dataclass(frozen=True)
class ExactWalk:
    """Chances that a rule decides, label by label.

    Parameters
    ----------
    p : float
        P(A preferred) of every label.
    decides_a, decides_b : ndarray, shape (horizon,)
        Chance that the decision for A (for B) falls at exactly n = 1, 2, ... labels.
    """

    p: float
    decides_a: Floats
    decides_b: Floats

    @property
    def decided_by(self) -> Floats:
        """Chance of any decision within n labels, for n = 1, 2, ..."""
        return np.asarray(np.cumsum(self.decides_a + self.decides_b))

    @property
    def wrong_by(self) -> Floats:
        """Chance of a wrong decision within n labels; at p = 1/2 any is wrong."""
        if self.p == 0.5:
            return self.decided_by
        wrong = self.decides_b if self.p > 0.5 else self.decides_a
        return np.asarray(np.cumsum(wrong))


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
        Chance not followed up because the walk was still undecided after n_max labels.
    """

    mean: float
    sd: float
    p_wrong: float
    p_open: float


def _check_p(p: float) -> float:
    if not 0 <= p <= 1:
        raise ValueError(f"p must lie between 0 and 1, not {p}.")
    return float(p)


def _reached(rule: StoppingRule, horizon: int, every: int) -> tuple[Integers, Integers]:
    if every < 1:
        raise ValueError(f"Looks can be every 1, 2, ... labels, not every {every}.")
    below, above = rule.boundaries(horizon)
    n = np.arange(1, horizon + 1, dtype=np.int64)
    looks = n % every == 0
    # where nobody looks, the boundary is out of reach
    return np.where(looks, below, -1), np.where(looks, above, n + 1)


class _Walk:
    # chances of the sums low, low + 1, ... that no boundary has stopped yet
    def __init__(self) -> None:
        self.chances: Floats = np.ones(1)
        self.low = 0

    def step(self, p: float, below: int, above: int) -> tuple[float, float]:
        moved = np.zeros(len(self.chances) + 1)
        moved[1:] = self.chances * p
        moved[:-1] += self.chances * (1 - p)
        cut_b = max(below + 1 - self.low, 0)
        cut_a = max(above - self.low, cut_b)
        to_b, to_a = float(moved[:cut_b].sum()), float(moved[cut_a:].sum())
        self.chances = moved[cut_b:cut_a]
        self.low += cut_b
        return to_a, to_b


def exact_walk(
    rule: StoppingRule, p: float, horizon: int, *, every: int = 1
) -> ExactWalk:
    """Compute when a rule decides, exactly, for independent labels.

    Parameters
    ----------
    rule : StoppingRule
        The rule, delta included.
    p : float
        P(A preferred) of every label, 0 <= p <= 1.
    horizon : int
        Number of labels at which the walk ends, at least 1.
    every : int, optional
        How many labels come between two looks, at least 1.

    Returns
    -------
    ExactWalk
        Chances of a decision at each number of labels.

    Raises
    ------
    ValueError
        When p, the horizon or `every` is out of range.

    Examples
    --------
    >>> from leaderboard.stats.stopping.rules import Hoeffding
    >>> walk = exact_walk(Hoeffding(delta=0.01), 0.5, 100)
    >>> round(float(walk.decided_by[-1]), 4)
    0.0206
    """
    p = _check_p(p)
    below, above = _reached(rule, horizon, every)
    walk = _Walk()
    decides = np.zeros((2, horizon))
    for i in range(horizon):
        decides[:, i] = walk.step(p, int(below[i]), int(above[i]))
    return ExactWalk(p, decides[0], decides[1])


def exact_effort(
    rule: StoppingRule, p: float, *, n_max: int = 200_000, negligible: float = 1e-12
) -> ExactEffort:
    """Give the exact mean number of labels a rule needs to decide.

    Parameters
    ----------
    rule : StoppingRule
        The rule, delta included.
    p : float
        P(A preferred) of every label, 0 <= p <= 1.
    n_max : int, optional
        Labels after which the walk is given up, at least 1. Near p = 1/2 a rule that
        keeps its promise hardly ever stops, and the figures then describe walks cut
        off here; `p_open` tells.
    negligible : float, optional
        Chance of being undecided below which the walk is not followed further.

    Returns
    -------
    ExactEffort
        Walks that were still open count with the labels they had.

    Raises
    ------
    ValueError
        When p or n_max is out of range.

    Examples
    --------
    >>> from leaderboard.stats.stopping.rules import Hoeffding
    >>> effort = exact_effort(Hoeffding(delta=0.01), 0.61208)
    >>> round(effort.mean), round(effort.sd)
    (166, 112)
    """
    p = _check_p(p)
    if n_max < 1:
        raise ValueError(f"At least one label is needed, not {n_max}.")
    walk = _Walk()
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
        # boundaries are computed in growing blocks, since nobody knows how long the
        # walk will be
        block *= 2
    moments += is_open * np.array([n, n * n], dtype=np.float64)
    mean = float(moments[0])
    sd = float(np.sqrt(max(moments[1] - mean**2, 0.0)))
    return ExactEffort(mean, sd, _wrong(p, decided), is_open)


def _wrong(p: float, decided: npt.NDArray[np.float64]) -> float:
    if p == 0.5:
        return float(decided.sum())
    return float(decided[1] if p > 0.5 else decided[0])
