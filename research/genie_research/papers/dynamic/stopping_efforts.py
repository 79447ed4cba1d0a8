"""The cost of keeping the promise: exact mean labels of stopping rules."""

from collections.abc import Iterator

from genie_research.papers.dynamic.exact_effort import KnownEffect, exact_effort
from genie_research.papers.dynamic.simulation import Population
from genie_research.papers.table import DYNAMIC, Table, Workbench
from leaderboard.papers.figures import Cell
from leaderboard.stats.stopping.sequential import (
    BetaMixture,
    Hoeffding,
    NormalMixture,
    Stitched,
    StoppingRule,
)


class StoppingEfforts(Table):
    """Mean labels of One Worker on fresh requests."""

    slug = "stopping-efforts"
    title = "Mean labels until a decision, One Worker on fresh requests (exact)"
    paper = f"{DYNAMIC}, table 2 (the settings); no results are printed"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for mean in (0.25, 0.125, 0.0625):
            p = Population(mean, 0.1, 1).p_one_worker
            bench.tell(f"{self.slug}: mu = {mean:g}")
            for delta in (0.01, 0.001):
                for name, rule in _rules(delta, p).items():
                    effort = exact_effort(rule, p)
                    yield Cell(
                        f"{name}, delta {delta:g}",
                        f"mu = {mean:g}",
                        None,
                        effort.mean,
                        digits=0,
                        also={"sd": effort.sd, "wrong": effort.p_wrong},
                    )


def _rules(delta: float, p: float) -> dict[str, StoppingRule]:
    return {
        "the paper's rule, first crossing (not valid)": Hoeffding(delta),
        "normal mixture, rho 25": NormalMixture(delta),
        "beta mixture, Beta(10, 10)": BetaMixture(delta),
        "beta mixture, Beta(1, 1)": BetaMixture(delta, a=1, b=1),
        "stitched": Stitched(delta),
        "p known (lower bound)": KnownEffect(delta, p=p),
    }
