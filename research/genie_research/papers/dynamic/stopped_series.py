"""Many finished series of labels stopped at once.

`first_crossings` decides as `Comparison` does. `last_runs` counts as the published code
of *Dynamic Human Evaluation* did: it needs the labels after the decision, so it can
describe finished series only, and `Comparison` does not offer it.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from genie_research.papers.dynamic.running_sums import running_sums
from leaderboard.stats.stopping.rules import Integers, StoppingRule


@dataclass(frozen=True)
class StoppedSeries:
    """The decision of each of many series of labels.

    Parameters
    ----------
    n : ndarray of int, shape (runs,)
        Number of labels at the decision; 0 without one.
    side : ndarray of int, shape (runs,)
        1 for A, -1 for B, 0 for undecided.
    """

    n: Integers
    side: npt.NDArray[np.int8]

    @property
    def is_decided(self) -> npt.NDArray[np.bool]:
        return np.asarray(self.side != 0)


def _limits(
    rule: StoppingRule, sums: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
    # B is preferred below the first, A from the second on; both fit the sums' own type
    below, above = _boundaries(rule, sums.shape[1])
    return (below + 1).astype(sums.dtype), above.astype(sums.dtype)


@lru_cache(maxsize=32)
def _boundaries(rule: StoppingRule, horizon: int) -> tuple[Integers, Integers]:
    return rule.boundaries(horizon)


def first_crossings(rule: StoppingRule, labels: npt.ArrayLike) -> StoppedSeries:
    """Stop each series (row of 0 and 1) at the first label at which the rule decides.

    The decisions are the same as feeding each row to a `Comparison`.
    """
    sums = running_sums(np.asarray(labels))
    inside, above = _limits(rule, sums)
    crossed = sums >= above
    crossed |= sums < inside
    first = crossed.argmax(axis=1)
    rows = np.arange(len(sums))
    stopped = crossed[rows, first]
    side = np.where(sums[rows, first] >= above[first], 1, -1)
    return StoppedSeries(
        np.where(stopped, first + 1, 0).astype(np.int64),
        np.where(stopped, side, 0).astype(np.int8),
    )


def last_runs(rule: StoppingRule, labels: npt.ArrayLike) -> StoppedSeries:
    """Stop each series (row of 0 and 1) where its last run beyond the boundary begins.

    This needs the future: the labels after the stop must be known to see that the run
    does not break. The code of *Dynamic Human Evaluation* computed its tables 3, 6 and
    7 this way, against the words of its section 3.2; it cannot be used live. A series
    that does not end beyond a boundary is undecided.
    """
    sums = running_sums(np.asarray(labels))
    length = sums.shape[1]
    inside, above = _limits(rule, sums)
    for_a = sums[:, -1] >= above[-1]
    for_b = sums[:, -1] < inside[-1]
    outside = sums < above
    outside[for_b] = sums[for_b] >= inside
    last_out = length - outside[:, ::-1].argmax(axis=1)
    start = np.where(outside.any(axis=1), last_out + 1, 1)
    side = for_a.astype(np.int8) - for_b.astype(np.int8)
    return StoppedSeries(np.where(side != 0, start, 0).astype(np.int64), side)
