"""Coverage and width of intervals with good, biased and useless judges."""

from dataclasses import dataclass

import numpy as np

from genie.lib.interval import Interval
from leaderboard.stats.intervals import Floats
from leaderboard.stats.judges.with_people import judged_mean

JUDGES = ("good", "biased", "useless")
METHODS = ("plain", "influence function")
# standard deviations on a scale of 100: quality, strictness of workers, their scatter
_QUALITY, _STRICT, _SCATTER = 10.0, 8.0, 8.0


@dataclass(frozen=True)
class CoverageCell:
    """One way to estimate with one judge.

    Parameters
    ----------
    judge, method : str
        Of `JUDGES` and `METHODS`.
    coverage, error : float
        Share of 95% intervals that contain the true mean, and its Monte-Carlo standard
        error.
    bias : float
        Mean of estimate minus truth, as a share of the plain interval's half-width.
    width : float
        Mean half-width as a share of the plain one.
    labels_saved : float
        How many more instances people would have to rate for such intervals, as a
        share of those they did, by mean squared half-widths; 0 for the plain mean.
    """

    judge: str
    method: str
    n_tasks: int
    coverage: float
    error: float
    bias: float
    width: float
    labels_saved: float


def study_coverage(
    n_tasks: int,
    *,
    seed: int,
    n_instances: int = 1_000,
    n_people: int = 200,
    n_workers: int = 40,
) -> list[CoverageCell]:
    """Simulate tasks in which people rate some instances and two judges all.

    Every judge with every method, with `n_tasks` tasks each. Each worker has a
    strictness. The truth is the mean over infinitely many workers and instances.
    """
    cells = []
    for kind in JUDGES:
        tasks = [
            _task(
                kind, np.random.default_rng([seed, i]), n_instances, n_people, n_workers
            )
            for i in range(n_tasks)
        ]
        widths = np.array([[each.half_width for each in task] for task in tasks])
        squared, plain = (widths**2).mean(axis=0), widths[:, 0].mean()
        for i, method in enumerate(METHODS):
            inside = float(np.mean([task[i].contains(0.0) for task in tasks]))
            cells.append(
                CoverageCell(
                    kind,
                    method,
                    n_tasks,
                    inside,
                    float((inside * (1 - inside) / n_tasks) ** 0.5),
                    float(np.mean([task[i].estimate for task in tasks]) / plain),
                    float(widths[:, i].mean() / plain),
                    float(squared[0] / squared[i] - 1),
                )
            )
    return cells


def judge_scores(kind: str, quality: Floats, rng: np.random.Generator) -> Floats:
    """Return two judges' scores, worse on some instances than on others.

    Parameters
    ----------
    kind : str
        Of `JUDGES`.
    quality : ndarray, shape (m,)
        People's expected ratings.

    Returns
    -------
    ndarray, shape (m, 2)
    """
    n = len(quality)
    # a third of the instances is hard for judges, and they differ there
    scatter = np.where(rng.random(n) < 1 / 3, 12.0, 3.0)[:, None]
    if kind == "useless":
        return rng.normal(0, _QUALITY, (n, 2))
    told = quality[:, None] + scatter * rng.normal(size=(n, 2))
    if kind == "good":
        return told
    # too mild, on a different scale, with a preference that people do not have
    return 20 + 0.5 * told + _QUALITY * rng.normal(size=n)[:, None]


def _task(
    kind: str, rng: np.random.Generator, n: int, n_people: int, n_workers: int
) -> list[Interval]:
    quality = rng.normal(0, _QUALITY, n)
    judge = judge_scores(kind, quality, rng).mean(axis=1)
    strict = rng.normal(0, _STRICT, n_workers)
    items = rng.permutation(n)[:n_people]
    worker = rng.permutation(np.arange(n_people) % n_workers)
    ratings = quality[items] + strict[worker] + rng.normal(0, _SCATTER, n_people)
    seed = int(rng.integers(2**31))
    even = judged_mean(ratings, worker, items, judge, seed=seed)
    return [even.plain, even.helped]
