"""Standard errors and published intervals: appendix C and table 3 of Genie."""

import math
from collections.abc import Iterator

from genie_research.papers.table import GENIE, Table, Workbench
from leaderboard.papers.figures import Cell
from leaderboard.stats.bounds import largest_sd, normal_quantile

_PRINTED_BOUNDS = {800: 1.77, 300: 2.89}
_PLAUSIBLE_SD = 0.30
#: Task, instances judged; system, human score, and half the width of its interval.
_INTERVALS: dict[tuple[str, int], tuple[tuple[str, float, float], ...]] = {
    ("ARC-DA", 800): (
        ("UnifiedQA (ARC-DA/MC+IR)", 80.8, 2.15),
        ("UnifiedQA (ARC-DA+IR)", 75.3, 2.35),
        ("T5 (11B)", 66.0, 2.55),
        ("T5 (3B)", 60.9, 2.95),
    ),
    ("WMT21", 800): (
        ("Watermelon", 75.7, 2.0),
        ("VolcTrans-AT", 75.2, 2.0),
        ("HUMAN", 75.2, 2.0),
        ("Genie-large-6-6", 70.4, 1.95),
        ("Genie-base-6-6", 69.0, 2.1),
        ("Genie-base-3-3", 65.3, 2.3),
        ("Genie-base-1-1", 50.7, 2.35),
    ),
    ("WMT19", 800): (
        ("FAIR", 69.8, 2.2),
        ("Genie-large-6-6", 70.6, 2.1),
        ("Genie-base-6-6", 65.0, 2.3),
        ("JHU", 66.0, 2.2),
    ),
    ("αNLG", 800): (("T5 (11B)", 75.9, 1.05), ("GPT-2", 45.1, 1.25)),
    ("XSUM", 300): (
        ("Anonymous", 50.6, 3.0),
        ("Pegasus", 48.7, 3.25),
        ("T5 (11B)", 47.5, 3.3),
    ),
}
_TOO_NARROW = (
    "Possible, but not plausible at 800 instances: ratings would vary half as much as"
    " on every other task. It fits the whole test set of 3,000."
)


class GenieAppendixC(Table):
    """The largest standard error, and the intervals it must contain."""

    slug = "genie-appendix-c"
    title = (
        "Standard errors, per cent. The largest at n instances; then the printed"
        " half-widths of 95% intervals, which cannot exceed 1.96 times the largest"
        " standard error of that mean (Bhatia-Davis)"
    )
    paper = f"{GENIE}, appendix C, section 6 and tables 3 and 6"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for n, paper in _PRINTED_BOUNDS.items():
            error = 100 * largest_standard_error(n)
            half = normal_quantile(0.95) * error
            yield Cell(
                f"n = {n}",
                "largest standard error",
                paper,
                error,
                tolerance=(error, error + 0.005),  # printed as "<", to two decimals
                digits=4,
                also={"half-width of the 95% interval": half},
            )
        for (task, n), rows in _INTERVALS.items():
            for system, mean, half in rows:
                yield _interval(task, n, system, mean, half)


def _interval(task: str, n: int, system: str, mean: float, half: float) -> Cell:
    reach = 100 * normal_quantile(0.95) * largest_standard_error(n, mean / 100)
    sd = half / 100 * math.sqrt(n) / normal_quantile(0.95)
    n_for_this_sd = (normal_quantile(0.95) * _PLAUSIBLE_SD / (half / 100)) ** 2
    return Cell(
        f"{task}, {system}",
        f"half-width at n = {n}",
        half,
        reach,
        tolerance=(-math.inf, reach),
        why=_TOO_NARROW if task == "αNLG" else "",
        digits=2,
        also={"implied sd": sd, "n if the sd is .30": n_for_this_sd},
    )


def largest_standard_error(
    n: int, mean: float | None = None, *, low: float = 0.0, high: float = 1.0
) -> float:
    """Return `largest_sd` / sqrt(n): the largest standard error of a mean of n ratings.

    The ratings are independent. The half-width of a 95% interval is 1.96 times as
    large.

    References
    ----------
    Khashabi et al. (2022), GENIE, appendix C, last equation.
    """
    return largest_sd(mean, low=low, high=high) / math.sqrt(n)
