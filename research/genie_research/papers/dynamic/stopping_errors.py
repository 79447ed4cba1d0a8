"""How often stopping rules decide between two equal systems, exactly."""

import math
from collections.abc import Iterator

from genie_research.papers.table import DYNAMIC, Table, Workbench
from leaderboard.papers.figures import Cell
from leaderboard.stats.stopping.sequential import (
    BetaMixture,
    ConfidenceRule,
    Hoeffding,
    NormalMixture,
    Stitched,
    UnionBound,
    exact_walk,
)

_HORIZONS = (100, 500, 1000, 5000)
_LOOKS = (1, 10, 50, 100, 500)
_BROKEN = (
    "The guarantee is for one look at a number of labels fixed in advance, but "
    "the rule is applied repeatedly."
)


class StoppingErrors(Table):
    """False decisions within n labels when neither system is better."""

    slug = "stopping-errors"
    title = (
        "Probability of a decision within n labels for two equal systems; the "
        "column paper has the guarantee, 2 delta"
    )
    paper = f"{DYNAMIC}, section 3.2 (its guarantee)"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for delta in (0.01, 0.001):
            for every in _LOOKS if delta == 0.01 else (1,):
                yield from _row(Hoeffding(delta), "the paper's rule", every)
            for n in (500, 5000):
                yield from _row(Hoeffding(delta), "the paper's rule", n, (n,), True)
            for name, rule in {
                "normal mixture, rho 25": NormalMixture(delta),
                "beta mixture, Beta(1, 1)": BetaMixture(delta, a=1, b=1),
                "beta mixture, Beta(10, 10)": BetaMixture(delta),
                "stitched": Stitched(delta),
                "union bound": UnionBound(delta),
            }.items():
                yield from _row(rule, name, 1)


def _row(
    rule: ConfidenceRule,
    name: str,
    every: int,
    horizons: tuple[int, ...] = _HORIZONS,
    single_look: bool = False,
) -> Iterator[Cell]:
    errors = exact_walk(rule, 0.5, max(horizons), every=every).decided_by
    how = (
        "one look"
        if single_look
        else "every label"
        if every == 1
        else f"every {every} labels"
    )
    for n in horizons:
        if every > n:
            continue
        error = float(errors[n - 1])
        yield Cell(
            f"{name}, delta {rule.delta:g}, {how}",
            f"n = {n}",
            2 * rule.delta,
            error,
            tolerance=(error, math.inf),
            why="" if error <= 2 * rule.delta else _BROKEN,
            must_hold=rule.anytime_valid or single_look,
            digits=None,
        )
