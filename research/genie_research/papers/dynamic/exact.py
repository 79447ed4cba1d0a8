"""The effort of a labeling strategy on given requests, exactly.

Final labels of different requests are independent, so the sum of labels is a random
walk with a step chance that depends on the request. Dynamic programming carries the
chance of each sum, and the mean and the mean square of the cost on the way there; the
"last unbroken run" additionally needs, backward from the end, the chance to stay beyond
the boundary.
"""

from dataclasses import dataclass

import numpy as np

from genie_research.papers.dynamic.effort import Stop
from genie_research.papers.dynamic.labels import Outcomes
from leaderboard.stats.stopping.rules import Floats, Integers


@dataclass(frozen=True)
class ExactLabels:
    """Exact effort of a strategy under a rule.

    Parameters
    ----------
    mean, sd : float
        Of the labels paid for, over the runs that decide; NaN if none can.
    share_decided : float
        Chance of a decision within the given requests.
    """

    mean: float
    sd: float
    share_decided: float


# moments[j, s]: sum over paths to sum s of chance x cost^j, j = 0, 1, 2
def _advance(moments: Floats, costs: Floats, chances: Floats, labels: Floats) -> Floats:
    size = moments.shape[1]
    moved = np.zeros((3, size + 1))
    for cost, chance, label in zip(costs, chances, labels, strict=True):
        charged = np.array(
            [
                moments[0],
                moments[1] + cost * moments[0],
                moments[2] + 2 * cost * moments[1] + cost**2 * moments[0],
            ]
        )
        moved[:, int(label) : size + int(label)] += chance * charged
    return moved


def exact_labels(stop: Stop, outcomes: Outcomes) -> ExactLabels:
    """Compute mean and spread of the labels a strategy needs, exactly.

    It is the limit of `measure_effort`. Time and memory grow with the square of the
    number of requests; 500 requests take some tens of milliseconds.
    """
    below, above = stop.rule.boundaries(outcomes.n_requests)
    if stop.reading == "first":
        totals = _first(outcomes, below, above)
    else:
        totals = _last(outcomes, below, above)
    decided = totals.sum(axis=0)
    if decided[0] <= 0:
        return ExactLabels(float("nan"), float("nan"), 0.0)
    mean = decided[1] / decided[0]
    variance = max(decided[2] / decided[0] - mean**2, 0.0)
    return ExactLabels(float(mean), float(np.sqrt(variance)), float(decided[0]))


def _first(outcomes: Outcomes, below: Integers, above: Integers) -> Floats:
    costs, labels = outcomes.costs.astype(np.float64), outcomes.labels.astype(float)
    moments = np.zeros((3, 1))
    moments[0, 0] = 1
    totals = np.zeros((2, 3))
    for i in range(outcomes.n_requests):
        moments = _advance(moments, costs, outcomes.chances[:, i], labels)
        a, b = int(above[i]), int(below[i]) + 1
        totals[0] += moments[:, a:].sum(axis=1)
        totals[1] += moments[:, :b].sum(axis=1)
        # decided paths have stopped: they must not be counted again
        moments[:, a:] = 0
        moments[:, :b] = 0
    return totals


def _last(outcomes: Outcomes, below: Integers, above: Integers) -> Floats:
    costs, labels = outcomes.costs.astype(np.float64), outcomes.labels.astype(float)
    stays = _stays(outcomes.p_a, below, above)
    moments = np.zeros((3, 1))
    moments[0, 0] = 1
    totals = np.zeros((2, 3))
    for i in range(outcomes.n_requests):
        # a run for A can begin here only if the sum before was not yet for A
        low, high = (int(below[i - 1]), int(above[i - 1])) if i else (-1, 1)
        for side in range(2):
            outside = moments.copy()
            if side == 0:
                outside[:, high:] = 0
            else:
                outside[:, : low + 1] = 0
            begins = _advance(outside, costs, outcomes.chances[:, i], labels)
            totals[side] += begins @ stays[side][i][: begins.shape[1]]
        moments = _advance(moments, costs, outcomes.chances[:, i], labels)
    return totals


def _stays(
    p_a: Floats, below: Integers, above: Integers
) -> tuple[list[Floats], list[Floats]]:
    # chance, for each sum after request i, to be beyond the boundary from i to the end
    n = len(p_a)
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    ends = ((np.greater_equal, above), (np.less_equal, below))
    for chances, (beyond, boundary) in zip(sides, ends, strict=True):
        chance: Floats = np.ones(n + 1)
        for i in range(n - 1, -1, -1):
            sums = np.arange(i + 2)
            if i < n - 1:
                chance = p_a[i + 1] * chance[1:] + (1 - p_a[i + 1]) * chance[:-1]
            chance = np.where(beyond(sums, boundary[i]), chance[: i + 2], 0.0)
            chances.append(chance)
        chances.reverse()
    return sides
