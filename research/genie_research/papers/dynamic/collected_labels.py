"""Labels needed on collected labels: table 6 of *Dynamic Human Evaluation*."""

from collections.abc import Iterator

from genie_research.papers.dynamic.data import (
    DELTAS,
    EXPERIMENTS,
    Experiment,
    no_file,
    read_experiment,
)
from genie_research.papers.dynamic.effort import Stop
from genie_research.papers.dynamic.exact import exact_labels
from genie_research.papers.dynamic.labels import MaxThree, Outcomes
from genie_research.papers.table import DYNAMIC, Table, Workbench, one_of_many
from leaderboard.papers.figures import Cell
from leaderboard.stats.stopping.sequential import BetaMixture, Hoeffding

_RUNS = 100  # iterations behind each printed mean
_PRINTED = {
    "v1": {
        "7 Workers": (70, 98, 133),
        "5 Workers": (50, 70, 95),
        "Max 3 Workers": (30, 43, 59),
        "One Worker": (11, 19, 26),
    },
    "r1": {
        "7 Workers": (501, 823, 1235),
        "5 Workers": (452, 671, 1010),
        "Max 3 Workers": (327, 519, 701),
        "One Worker": (273, 356, 385),
    },
    "r2": {
        "7 Workers": (509, 954, 1266),
        "5 Workers": (357, 668, 987),
        "Max 3 Workers": (240, 430, 603),
        "One Worker": (187, 281, 350),
    },
}


class DynamicTable6(Table):
    """Mean labels per decision, with the rule as the published code implements it."""

    slug = "dynamic-table-6"
    title = (
        "Labels until the better system is known, on collected labels. Exact means of"
        " the published code's rule, which needs the labels after the decision; beside"
        " them the rule of the paper's text (first crossing) and a valid one"
    )
    paper = f"{DYNAMIC}, table 6"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for name, (heading, _) in EXPERIMENTS.items():
            experiment = read_experiment(bench, name)
            for strategy, printed in _PRINTED[name].items():
                for delta, paper in zip(DELTAS, printed, strict=True):
                    row, column = f"{heading}: {strategy}", f"{1 - delta:g}"
                    if experiment is None:
                        why = no_file(name)
                        yield Cell(row, column, paper, None, why=why, digits=0)
                    else:
                        yield _cell(row, column, paper, experiment, strategy, delta)


def _cell(
    row: str,
    column: str,
    paper: int,
    experiment: Experiment,
    strategy: str,
    delta: float,
) -> Cell:
    outcomes = experiment.strategies[strategy].outcomes(experiment.votes)
    printed_rule = Stop(Hoeffding(delta), "last")
    labels = exact_labels(printed_rule, outcomes)
    also = _live(outcomes, delta)
    why = ""
    if strategy == "Max 3 Workers":
        right = MaxThree().outcomes(experiment.votes)
        also["at the right cost"] = exact_labels(printed_rule, right).mean
        side = "better" if experiment.slip == "A" else "worse"
        why = (
            "Matches only if three labels are counted where the first two agree "
            f"on the {side} system, although two are paid for."
        )
    return Cell(
        row,
        column,
        paper,
        labels.mean,
        tolerance=one_of_many(labels.sd, _RUNS * labels.share_decided) + 0.5,
        why=why,
        digits=1,
        also=also,
    )


def _live(outcomes: Outcomes, delta: float) -> dict[str, float]:
    return {
        "first crossing": exact_labels(Stop(Hoeffding(delta)), outcomes).mean,
        "valid": exact_labels(Stop(BetaMixture(delta)), outcomes).mean,
    }
