"""How often 500 pairs suffice: table 7 of *Dynamic Human Evaluation*."""

from collections.abc import Iterator

from genie_research.papers.dynamic.data import DELTAS, no_file, read_experiment
from genie_research.papers.dynamic.effort import Stop
from genie_research.papers.dynamic.exact import exact_labels
from genie_research.papers.dynamic.labels import OneWorker
from genie_research.papers.table import DYNAMIC, Table, Workbench, one_of_many
from leaderboard.papers.figures import Cell
from leaderboard.stats.stopping.sequential import BetaMixture, Hoeffding

_RUNS = 100
_PRINTED = {"r1": (95, 80, 49), "r2": (100, 100, 96)}


class DynamicTable7(Table):
    """Percentage of One Worker runs that decide."""

    slug = "dynamic-table-7"
    title = (
        "Runs of One Worker that decide within the pairs there are, per cent (exact)"
    )
    paper = f"{DYNAMIC}, table 7"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for name, printed in _PRINTED.items():
            experiment = read_experiment(bench, name)
            for delta, paper in zip(DELTAS, printed, strict=True):
                row, column = name.upper(), f"{1 - delta:g}"
                if experiment is None:
                    yield Cell(row, column, paper, None, why=no_file(name))
                    continue
                outcomes = OneWorker().outcomes(experiment.votes)
                share, first, valid = (
                    100 * exact_labels(stop, outcomes).share_decided
                    for stop in (
                        Stop(Hoeffding(delta), "last"),
                        Stop(Hoeffding(delta)),
                        Stop(BetaMixture(delta)),
                    )
                )
                spread = (share * (100 - share)) ** 0.5
                yield Cell(
                    row,
                    column,
                    paper,
                    share,
                    tolerance=one_of_many(spread, _RUNS) + 0.5,
                    digits=1,
                    also={"first crossing": first, "valid": valid},
                )
