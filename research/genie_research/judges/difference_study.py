"""Coverage of differences of systems, and of ranks, with judges' help."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from genie_research.judges.coverage_study import JUDGES, judge_scores
from leaderboard.stats.judges.together import Forecast, helped_systems
from leaderboard.stats.judges.with_people import judged_mean
from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.stats.systems.ranks import rank_systems

_SYSTEMS = 4
# standard deviations on a scale of 100: of instances for all systems, and for each;
# of workers' strictness, their taste for a system, and their scatter
_SHARED, _OWN = 7.0, 7.0
_STRICT, _TASTE, _SCATTER = 8.0, 3.0, 8.0


@dataclass(frozen=True)
class DifferenceCell:
    """Boards of four systems that are equally good, with one kind of judge.

    Parameters
    ----------
    judge : str
        Of `JUDGES`.
    coverage, error : float
        Share of 95% intervals of differences that contain 0, and its Monte-Carlo
        standard error over tasks.
    wrong : float
        Share of boards that separate any two systems; at most 5% is promised.
    """

    judge: str
    n_tasks: int
    coverage: float
    error: float
    wrong: float


def study_differences(
    n_tasks: int,
    *,
    seed: int,
    n_instances: int = 1_000,
    n_people: int = 200,
    n_workers: int = 40,
) -> list[DifferenceCell]:
    """Simulate boards whose systems share instances, and half of the time workers.

    The sizes are as in `genie_research.judges.coverage_study.study_coverage`.

    Examples
    --------
    >>> len(study_differences(2, seed=1, n_instances=60, n_people=30, n_workers=6))
    3
    """
    pairs = np.triu_indices(_SYSTEMS, 1)
    listed = list(combinations(range(_SYSTEMS), 2))
    cells = []
    for kind in JUDGES:
        inside, wrong = [], 0
        for number in range(n_tasks):
            rng = np.random.default_rng([seed, number])
            fit = _board(kind, rng, n_instances, n_people, n_workers, number % 2 == 0)
            inside.append(np.mean([_holds(fit, i, j) for i, j in listed]))
            wrong += int((rank_systems(fit).p_values[pairs] <= 0.05).any())
        cells.append(
            DifferenceCell(
                kind,
                n_tasks,
                float(np.mean(inside)),
                float(np.std(inside) / n_tasks**0.5),
                wrong / n_tasks,
            )
        )
    return cells


def _holds(fit: SystemEstimates, i: int, j: int) -> bool:
    return fit.difference(fit.systems[i], fit.systems[j]).contains(0.0)


def _board(
    kind: str,
    rng: np.random.Generator,
    n: int,
    n_people: int,
    n_workers: int,
    shared: bool,
) -> SystemEstimates:
    common, strict = rng.normal(0, _SHARED, n), rng.normal(0, _STRICT, n_workers)
    items = rng.permutation(n)[:n_people]
    rows, forecasts = [], {}
    for system in range(_SYSTEMS):
        quality = common + rng.normal(0, _OWN, n)
        judge = judge_scores(kind, quality, rng).mean(axis=1)
        worker = rng.permutation(np.arange(n_people) % n_workers)
        if not shared:
            strict = rng.normal(0, _STRICT, n_workers)
        lean = strict + rng.normal(0, _TASTE, n_workers)
        ratings = quality[items] + lean[worker] + rng.normal(0, _SCATTER, n_people)
        who = worker if shared else worker + n_workers * system
        found = judged_mean(ratings, who, items, judge, seed=int(rng.integers(2**31)))
        if found.foretold is not None:
            forecasts[str(system)] = Forecast(np.arange(n), found.foretold)
        rows.append((ratings, np.full(n_people, system), who, items))
    values, systems, workers, places = (
        np.concatenate(each) for each in zip(*rows, strict=True)
    )
    return helped_systems(values, systems, workers, places, forecasts)
