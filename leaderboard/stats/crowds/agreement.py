"""Two crowds' results on the same systems: scores, ranks, order, and variances."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.blinding.levels import codes_of
from leaderboard.stats.crowds.same_population import SamePopulation, same_population
from leaderboard.stats.intervals import as_ratings
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.estimates import (
    Difference,
    SystemEstimates,
    estimate_systems,
)
from leaderboard.stats.systems.ranks import rank_systems
from leaderboard.stats.systems.variances import Variances

_RESAMPLES = 2_000
_FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class SystemInBoth:
    """One system in both crowds; `difference` is second less first."""

    system: str
    means: tuple[float, float]
    difference: Difference
    ranks: tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Correlation:
    """Agreement of two crowds about systems: Pearson's r with its 95% interval."""

    r: float
    low: float
    high: float
    n_systems: int


@dataclass(frozen=True)
class CrowdComparison:
    """Two crowds on the systems that both rated, best in the first crowd first.

    Parameters
    ----------
    correlation : Correlation or None
        None with fewer than three systems, or if a crowd rates all equally.
    n_ratings, n_workers : tuple of int
        Of each crowd on these systems.
    population : SamePopulation or None
        None if a crowd is too small.
    """

    systems: list[SystemInBoth]
    correlation: Correlation | None
    variances: tuple[Variances, Variances]
    n_ratings: tuple[int, int]
    n_workers: tuple[int, int]
    population: SamePopulation | None


def compare_crowds(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    seed: int = 0,
) -> CrowdComparison | None:
    """Compare two crowds' results on the systems that both rated.

    Parameters
    ----------
    values, systems, workers, instances : array_like, shape (n,)
        Ratings on a numeric scale (logarithms of magnitudes), and the labels of each. A
        worker of both crowds has the same label in both.
    second : array_like of bool, shape (n,)
        Whether the second crowd gave each.

    Returns
    -------
    CrowdComparison or None
        None if no system was rated by both.

    References
    ----------
    `estimate_systems` for means and differences, `rank_systems` for ranks,
    `same_population` for the test; the correlation's interval resamples workers within
    crowds (percentiles; Efron and Tibshirani 1993, chapter 13).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> worker, system = np.arange(1200) % 40, np.arange(1200) // 40 % 3
    >>> ratings = 50 + 10 * system + rng.normal(0, 9, 1200) + 6 * (worker >= 20)
    >>> found = compare_crowds(
    ...     ratings, system, worker, np.arange(1200) // 120, worker >= 20)
    >>> [one.system for one in found.systems], found.systems[0].difference.low > 0
    (['2', '1', '0'], True)
    """
    y = as_ratings(values)
    n = len(y)
    in_second = np.asarray(second, dtype=bool)
    labels = [np.asarray(one) for one in (systems, workers, instances)]
    if in_second.shape != (n,) or any(one.shape != (n,) for one in labels):
        raise ValueError(f"{n} ratings need as many systems, workers, and crowds.")
    names = labels[0].astype(str)
    both = np.intersect1d(names[in_second], names[~in_second])
    kept = np.isin(names, both)
    if not kept.any():
        return None
    y, names, in_second = y[kept], names[kept], in_second[kept]
    worker, instance = labels[1][kept], labels[2][kept]
    parts = [
        estimate_systems(y[rows], names[rows], worker[rows], instance[rows])
        for rows in (~in_second, in_second)
    ]
    return CrowdComparison(
        _systems(y, names, worker, instance, in_second, parts),
        _correlation(y, names, worker, in_second, seed),
        (parts[0].variances, parts[1].variances),
        (int((~in_second).sum()), int(in_second.sum())),
        (len(np.unique(worker[~in_second])), len(np.unique(worker[in_second]))),
        same_population(y, names, worker, instance, in_second, seed=seed),
    )


def _systems(
    y: Floats,
    names: npt.NDArray[np.str_],
    worker: npt.NDArray[np.generic],
    instance: npt.NDArray[np.generic],
    second: npt.NDArray[np.bool_],
    parts: Sequence[SystemEstimates],
) -> list[SystemInBoth]:
    # each system of each crowd is separate: their difference is the crowds'
    crowd = np.where(second, "2 ", "1 ")
    joint = estimate_systems(y, np.char.add(crowd, names), worker, instance)
    rankings = [rank_systems(part) for part in parts]
    found = []
    for name in rankings[0].systems:
        ranges = [ranking.rank_of(name) for ranking in rankings]
        (first, last), (first_2, last_2) = [(one.first, one.last) for one in ranges]
        means = [float(part.means[part.systems.index(name)]) for part in parts]
        found.append(
            SystemInBoth(
                name,
                (means[0], means[1]),
                joint.difference(f"2 {name}", f"1 {name}"),
                ((first, last), (first_2, last_2)),
            )
        )
    return found


def _correlation(
    y: Floats,
    names: npt.NDArray[np.str_],
    worker: npt.NDArray[np.generic],
    second: npt.NDArray[np.bool_],
    seed: int,
) -> Correlation | None:
    system = codes_of(names, len(y))
    n_systems = int(system.max()) + 1
    if n_systems < _FEWEST_SYSTEMS:
        return None
    rng = np.random.default_rng(seed)
    observed, drawn = [], []
    for rows in (~second, second):
        code = codes_of(worker[rows], int(rows.sum()))
        n_workers = int(code.max()) + 1
        cell = code * n_systems + system[rows]
        shape, size = (n_workers, n_systems), n_workers * n_systems
        sums = np.bincount(cell, y[rows], size).reshape(shape)
        counts = np.bincount(cell, minlength=size).reshape(shape)
        weights = rng.multinomial(
            n_workers, np.full(n_workers, 1 / n_workers), size=_RESAMPLES
        )
        observed.append(sums.sum(0) / counts.sum(0))
        with np.errstate(invalid="ignore"):
            drawn.append((weights @ sums) / (weights @ counts))
    r = _pearson(observed[0][None], observed[1][None])[0]
    if not np.isfinite(r):
        return None
    many = _pearson(drawn[0], drawn[1])
    many = many[np.isfinite(many)]
    low, high = np.quantile(many, [0.025, 0.975]) if len(many) else (-1.0, 1.0)
    return Correlation(float(r), float(low), float(high), n_systems)


def _pearson(a: Floats, b: Floats) -> Floats:
    """Correlate rows; NaN if one of them has no spread."""
    a = a - a.mean(axis=1, keepdims=True)
    b = b - b.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1)))
