"""Labels needed in the simulation: table 3 of *Dynamic Human Evaluation*."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie_research.papers.dynamic.effort import (
    EffortSample,
    Labelling,
    Stop,
    measure_effort,
)
from genie_research.papers.dynamic.labels import Majority, MaxThree, OneWorker, Strategy
from genie_research.papers.dynamic.simulation import (
    FixedWorker,
    FreshRequests,
    Population,
    SimulatedVotes,
)
from genie_research.papers.table import DYNAMIC, Table, Workbench, one_of_many
from leaderboard.papers.figures import Cell
from leaderboard.stats.stopping.sequential import BetaMixture, Hoeffding

_DELTA = 0.001
_RUNS_PRINTED = 1000
_RUNS = 10_000
_VARIANCE = 0.1
_N_REQUESTS = {0.25: 3500, 0.125: 5000, 0.0625: 15_000}
_PRINTED = {
    0.25: (866, 722, 461, 344, 338),
    0.125: (3647, 3141, 2011, 1454, 1440),
    0.0625: (13302, 10850, 6729, 4526, 4491),
}
# None: one fixed worker for all requests of a run
_STRATEGIES: dict[str, Strategy | None] = {
    "7 Workers": Majority(7),
    "5 Workers": Majority(5),
    "Max 3 Workers": MaxThree(distinct=False),
    "Fixed Worker": None,
    "One Worker": OneWorker(),
}
_FILES = ("dynamic/sim_seed21_z.txt", "dynamic/sim_seed21_capability.txt")


class DynamicTable3(Table):
    """Mean labels of simulated evaluations."""

    slug = "dynamic-table-3"
    title = (
        "Labels until the better system is known with probability .999, simulated on the"
        " one list of requests behind the printed figures, the rule read as the"
        " published code does; beside them the rule of the paper's text and a valid one"
        " on that list, and the printed rule with fresh requests in every run"
        " for the same workers"
    )
    paper = f"{DYNAMIC}, table 3"

    def cells(self, bench: Workbench) -> Iterator[Cell]:
        listed = [_numbers(bench, path) for path in _FILES]
        for mean, n in _N_REQUESTS.items():
            for (name, strategy), paper in zip(
                _STRATEGIES.items(), _PRINTED[mean], strict=True
            ):
                row = f"mu = {mean:g}: {name}"
                z, pool = listed
                if z is None or pool is None:
                    why = f"{_FILES[z is not None]} is not in the data folder."
                    yield Cell(row, "labels", paper, None, why=why, digits=0)
                    continue
                if len(z) < n:
                    raise GenieError(
                        f"{_FILES[0]} has {len(z)} numbers; {n} are needed.",
                        code="too-short",
                    )
                requests = np.clip(mean + np.sqrt(_VARIANCE) * z[:n], -1, 1)
                bench.tell(f"{self.slug}: {row}")
                yield _cell(bench, row, paper, strategy, pool, requests, mean)


def _numbers(bench: Workbench, path: str) -> npt.NDArray[np.float64] | None:
    file = bench.data / path
    if not file.is_file():
        return None
    try:
        return np.loadtxt(file, ndmin=1)
    except ValueError as error:
        raise GenieError(
            f"{path} is not one number per line: {error}", code="not-numbers"
        ) from error


def _cell(
    bench: Workbench,
    row: str,
    paper: int,
    strategy: Strategy | None,
    pool: npt.NDArray[np.float64],
    requests: npt.NDArray[np.float64],
    mean: float,
) -> Cell:
    labelling: Labelling
    if strategy is None:
        labelling = FixedWorker(pool, requests)
    else:
        labelling = strategy.outcomes(SimulatedVotes(pool, requests))
    stops = [
        Stop(Hoeffding(_DELTA), "last"),
        Stop(Hoeffding(_DELTA)),
        Stop(BetaMixture(_DELTA)),
    ]
    last, first, valid = _measure(bench, row, labelling, stops)
    population = Population(mean, _VARIANCE, len(requests))
    [fresh] = _measure(bench, row, FreshRequests(population, strategy, pool), stops[:1])
    # the printed mean and ours both vary: variances of the two means add up
    spread = (1 / _RUNS_PRINTED + 1 / len(last.labels)) ** -1
    return Cell(
        row,
        "labels",
        paper,
        last.mean,
        tolerance=one_of_many(last.sd, spread) + 0.5,
        digits=0,
        also={
            "first crossing": first.mean,
            "valid": valid.mean,
            "fresh requests": fresh.mean,
        },
    )


def _measure(
    bench: Workbench, row: str, labelling: Labelling, stops: list[Stop]
) -> list[EffortSample]:
    rng = np.random.default_rng(bench.seed_for(row, type(labelling).__name__))
    return measure_effort(labelling, stops, bench.runs or _RUNS, rng)
