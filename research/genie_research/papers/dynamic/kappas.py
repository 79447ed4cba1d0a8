"""Agreement of the workers in *Dynamic Human Evaluation*."""

from collections.abc import Iterator

from genie_research.papers.dynamic.data import (
    EXPERIMENTS,
    Experiment,
    no_file,
    read_experiment,
)
from genie_research.papers.table import DYNAMIC, Table, Workbench
from leaderboard.papers.figures import Cell
from quality.agreement.kappa import fleiss_kappa
from quality.agreement.label_counts import tally

_PRINTED = {"v1": 0.69, "r1": 0.27, "r2": 0.38}
_ROUNDED_TWICE = "It is .38504, so .39: .385 was rounded a second time."


class DynamicKappas(Table):
    """Fleiss' kappa of the three experiments."""

    slug = "dynamic-kappas"
    title = "Fleiss' kappa over the side preferred"
    paper = f"{DYNAMIC}, section 5.6"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        for name, (heading, _) in EXPERIMENTS.items():
            experiment = read_experiment(bench, name)
            paper = _PRINTED[name]
            if experiment is None:
                yield Cell(heading, "kappa", paper, None, why=no_file(name))
                continue
            yield Cell(
                heading,
                "kappa",
                paper,
                _kappa(experiment, "side"),
                tolerance=0.005,
                why=_ROUNDED_TWICE if name == "r2" else "",
                must_hold=name != "r2",
                digits=5,
                also={"over systems instead of sides": _kappa(experiment, "winner")},
            )


def _kappa(experiment: Experiment, column: str) -> float:
    counts = tally(experiment.labels["pair_id"], experiment.labels[column])
    return fleiss_kappa(counts, n_resamples=0).estimate
