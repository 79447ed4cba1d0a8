"""Ranks that say how uncertain they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: How a board's ranks come about, for every page, file and program that shows them.
RANK_RULE = (
    "A system ranks below another only where their scores differ significantly: all "
    "systems are compared in pairs under one model of their ratings, and with 95% "
    "confidence no pair that shares raters, a day or anchors is in the wrong order "
    "(Holm's correction). Systems that share none are not directly comparable. "
    "Intervals of single systems may overlap all the same."
)
#: The same where a task ranks by rank sums.
RANK_SUM_RULE = (
    "Ranks are those of clusters as WMT publishes them: systems stand in the order of "
    "their means, and a cluster ends below a system that is significantly better than "
    "every system below it, by unpaired one-sided rank-sum tests of the instances' "
    "ratings at the 5 % level. The tests are not corrected for the number of pairs, and "
    "they do not cover other workers."
)
RANK_SUMS_HELP = f"Where a task's `human.ranks` is `rank-sums`: {RANK_SUM_RULE}"


@dataclass(frozen=True)
class RankRange:
    """The ranks a system may hold, 1 being the best.

    Parameters
    ----------
    first, last : int
        Best and worst rank, 1 <= first <= last <= number of systems.

    Examples
    --------
    >>> str(RankRange(1, 1)), str(RankRange(2, 4))
    ('1', '2-4')
    """

    first: int
    last: int

    def __str__(self) -> str:
        return (
            str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        )


def rank_ranges(lows: npt.ArrayLike, highs: npt.ArrayLike) -> list[RankRange]:
    """Give each system the ranks that its interval and the others' leave open.

    Parameters
    ----------
    lows, highs : array_like, shape (s,)
        Ends of the systems' intervals, higher being better; infinite ends are allowed.

    Returns
    -------
    list of RankRange
        In the order given. first = 1 + systems surely above (their low is above this
        high); last = s - systems surely below (their high is below this low).

    Raises
    ------
    ValueError
        When the lists differ in length, an end is NaN, or a low lies above its high.

    Notes
    -----
    Boards ranked so until their systems were estimated together; releases of then are
    rebuilt with it. `leaderboard.stats.systems.ranks` has today's rule.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for Ranks, Review of Economic
    Studies 91(1), section 3; Goldstein and Spiegelhalter (1996), JRSS A 159, section 4.

    Examples
    --------
    >>> [str(r) for r in rank_ranges([0.7, 0.6, 0.1], [0.8, 0.75, 0.2])]
    ['1-2', '1-2', '3']
    """
    low = np.asarray(lows, dtype=np.float64)
    high = np.asarray(highs, dtype=np.float64)
    if low.ndim != 1 or low.shape != high.shape:
        raise ValueError("Each system needs one low and one high end.")
    if np.isnan(low).any() or np.isnan(high).any():
        raise ValueError(
            "An interval's end is NaN; rank only systems with an interval."
        )
    if (low > high).any():
        raise ValueError("An interval's low end lies above its high end.")
    n = len(low)
    # sorted once and searched: every pair would be 25 million for 5,000 systems
    n_above = n - np.searchsorted(np.sort(low), high, side="right")
    n_below = np.searchsorted(np.sort(high), low, side="left")
    return [
        RankRange(int(1 + a), int(n - b)) for a, b in zip(n_above, n_below, strict=True)
    ]
