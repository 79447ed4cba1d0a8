"""The exact behavior of a stopping rule, without simulation.

The sum of independent labels is a random walk; the chance of each sum that has not
stopped yet is carried from label to label (dynamic programming), so that error rates of
one in a million are as precise as those of one in ten.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.stats.stopping.rules import Floats, Integers, StoppingRule


@dataclass(frozen=True)
class ExactWalk:
    """Chances that a rule decides, label by label.

    Parameters
    ----------
    decides_a, decides_b : ndarray, shape (horizon,)
        Chance of the decision for A (for B) at exactly n = 1, 2, ... labels.
    """

    p: float
    decides_a: Floats
    decides_b: Floats

    @property
    def decided_by(self) -> Floats:
        """The chance of any decision within n labels, for n = 1, 2, ..."""
        return np.asarray(np.cumsum(self.decides_a + self.decides_b))


def _reachable_states(
    rule: StoppingRule, horizon: int, every: int
) -> tuple[Integers, Integers]:
    below, above = rule.boundaries(horizon)
    n = np.arange(1, horizon + 1, dtype=np.int64)
    looks = n % every == 0
    # between two looks the boundary is unreachable
    return np.where(looks, below, -1), np.where(looks, above, n + 1)


class Walk:
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
    """Compute the chances of a rule's decisions exactly, for independent labels.

    Parameters
    ----------
    p : float
        P(A preferred) of every label, 0 <= p <= 1.
    horizon : int
        Number of labels at which the walk ends, at least 1.
    every : int, optional
        Labels between two looks, at least 1.

    Examples
    --------
    >>> from leaderboard.stats.stopping.rules import Hoeffding
    >>> walk = exact_walk(Hoeffding(delta=0.01), 0.5, 100)
    >>> round(float(walk.decided_by[-1]), 4)
    0.0206
    """
    below, above = _reachable_states(rule, horizon, every)
    walk = Walk()
    decides = np.zeros((2, horizon))
    for i in range(horizon):
        decides[:, i] = walk.step(p, int(below[i]), int(above[i]))
    return ExactWalk(p, decides[0], decides[1])
