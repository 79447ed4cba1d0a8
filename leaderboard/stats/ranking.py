"""Ranks that say how uncertain they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: How a board's ranks come about, for every page, file and program that shows them.
RANK_RULE = (
    "A system ranks below another only where their 95 % intervals do not "
    "overlap. Systems that share a rank may still be significantly different "
    "when compared on the same instances."
)


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
    Intervals that touch or overlap leave the order open here, although a paired
    comparison of the same two systems may find a difference. The ranges hold all at once
    with the intervals' confidence only when the intervals hold all at once; with 95 %
    intervals each on its own, use `leaderboard.stats.rank_sets` for a joint statement.

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
