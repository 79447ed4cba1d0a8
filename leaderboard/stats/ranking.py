"""Ranks with their uncertainty."""

from dataclasses import dataclass

#: Said of boards; in one study, raters or anchors connect all systems.
UNCONNECTED = (
    "Systems that neither raters nor anchors connect are not directly comparable and "
    "have no order. "
)
#: How a board's ranks are computed, for every page, file and program that shows them.
RANK_RULE = (
    "A system ranks below another only if their scores differ significantly. All "
    "systems are compared in pairs under one model of their ratings, and with 95% "
    "confidence no pair is in the wrong order (Holm's correction). "
    f"{UNCONNECTED}Intervals of single systems may still overlap."
)
#: The same if a task ranks by rank sums.
RANK_SUM_RULE = (
    "Ranks are those of WMT's clusters. Systems are sorted by their means, and a "
    "cluster ends below a system that is significantly better than every system below "
    "it, by unpaired one-sided rank-sum tests of the instances' ratings at the 5% "
    "level. The tests are not corrected for the number of pairs, and they do not "
    "cover other raters."
)
RANK_SUMS_HELP = f"If a task's `human.ranks` is `rank-sums`: {RANK_SUM_RULE}"


@dataclass(frozen=True)
class RankRange:
    """The possible ranks of a system, 1 being the best.

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
