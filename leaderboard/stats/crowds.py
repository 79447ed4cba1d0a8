"""Two crowds that rated the same systems: their results, and a test of one population."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.blinding import codes_of, without_levels
from leaderboard.stats.intervals import Floats, as_ratings
from leaderboard.stats.systems.estimates import (
    Difference,
    SystemEstimates,
    estimate_systems,
)
from leaderboard.stats.systems.ranks import rank_systems
from leaderboard.stats.systems.table import Variances, sums_by

# Whether two crowds are draws from one population of workers: a test, and its power.
Codes = npt.NDArray[np.intp]
_SMALL = 1e-9
_BLOCK = 250
# power and level of the detectable difference
POWER, ALPHA = 0.8, 0.05
# smaller crowds are not tested
FEWEST_WORKERS = 3


@dataclass(frozen=True)
class SamePopulation:
    """The result of exchanging workers between two crowds.

    Parameters
    ----------
    p_value : float
        Of "the workers of both are draws from one population"; level and spread
        together.
    p_means, p_spread : float
        Of the same, by the systems' means and by the spread of ratings,
        separately.
    detectable : float or None
        The smallest difference of the crowds' levels that `p_means` finds at 5% in 80%
        of cases, in the unit of the ratings; None if there is none.
    n_workers : tuple of int
        Of each crowd; workers in both are left out.
    """

    p_value: float
    p_means: float
    p_spread: float
    detectable: float | None
    n_workers: tuple[int, int]
    n_both: int


@dataclass(frozen=True)
class _Workers:
    sums: Floats
    counts: Floats
    squares: Floats
    second: npt.NDArray[np.bool_]


def same_population(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    n_permutations: int = 1999,
    seed: int = 0,
) -> SamePopulation | None:
    """Test whether two crowds are draws from one population of workers.

    Parameters
    ----------
    values, systems, workers, instances : array_like, shape (n,)
        Ratings of systems that both crowds rated.
    second : array_like of bool, shape (n,)
        Whether the second crowd gave each.

    Returns
    -------
    SamePopulation or None
        None if a crowd has fewer than three separate workers.

    Notes
    -----
    Levels of systems and instances are removed without regard to crowds; then whole
    workers are exchanged between crowds at random. Two numbers are compared with those
    of exchanges: the sum over systems of the crowds' squared differences, weighted by
    ratings, and the ratio of the crowds' variances. Their p-values are combined by
    the smaller one's place among exchanges (Westfall and Young), so that under one
    population every p-value is uniform, for any shares of workers. A difference of crowds
    with different instances cannot be separated from the instances' difficulty.

    The detectable difference is computed on exchanged crowds: one is shifted until 80%
    of such shifts are significant.

    References
    ----------
    Pitman (1937), Supplement to JRSS 4 (exchanging); Westfall and Young (1993),
    Resampling-Based Multiple Testing; Hemerik and Goeman (2018), TEST 27 (random
    permutations with the observed one among them).
    """
    own = _without_those_of_both(values, systems, workers, instances, second)
    if own is None:
        return None
    y, system, worker, instance, in_second, n_both = own
    table, kept = _table(y, system, worker, instance, in_second)
    n_second = int(table.second.sum())
    sizes = (len(table.second) - n_second, n_second)
    if min(sizes) < FEWEST_WORKERS:
        return None
    rng = np.random.default_rng(seed)
    exchanged = np.array(
        [rng.permutation(table.second) for _ in range(max(n_permutations, 1))]
    )
    means, spread = _statistics(table, np.vstack([table.second, exchanged]))
    p_means, p_spread = _p_values(means), _p_values(spread)
    both = np.minimum(p_means, p_spread)
    # how often an exchange's smaller p-value is as small as the observed one's
    p_value = float((both <= both[0] + _SMALL).mean())
    found = _detectable(table, exchanged, float(np.quantile(means, 1 - ALPHA)))
    return SamePopulation(
        p_value,
        float(p_means[0]),
        float(p_spread[0]),
        found / kept if found is not None and kept > 0.01 else None,
        sizes,
        n_both,
    )


def _without_those_of_both(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    second: npt.ArrayLike,
) -> tuple[Floats, Codes, Codes, Codes, npt.NDArray[np.bool_], int] | None:
    """Leave out workers of both crowds: they cannot be exchanged."""
    y = as_ratings(values)
    n = len(y)
    system, worker, instance = (
        codes_of(labels, n) for labels in (systems, workers, instances)
    )
    in_second = codes_of(np.asarray(second, dtype=bool), n) > 0
    if not np.asarray(second, dtype=bool).any() or np.asarray(second, dtype=bool).all():
        return None
    n_workers = int(worker.max()) + 1
    in_both = np.isin(np.arange(n_workers), worker[in_second])
    in_both &= np.isin(np.arange(n_workers), worker[~in_second])
    own = ~in_both[worker]
    if not own.any():
        return None
    n_own = int(own.sum())
    system, worker, instance = (
        codes_of(one[own], n_own) for one in (system, worker, instance)
    )
    return y[own], system, worker, instance, in_second[own], int(in_both.sum())


def _table(
    y: Floats,
    system: Codes,
    worker: Codes,
    instance: Codes,
    second: npt.NDArray[np.bool_],
) -> tuple[_Workers, float]:
    """Sum each worker's ratings; also return the share of a shift that remains."""
    levels = [system, instance]
    rest = without_levels(y, levels)
    n_workers, n_systems = int(worker.max()) + 1, int(system.max()) + 1
    cell, size = worker * n_systems + system, n_workers * n_systems
    shape = (n_workers, n_systems)
    counts = sums_by(cell, np.ones_like(rest), size).reshape(shape)
    sums = sums_by(cell, rest, size).reshape(shape)
    squares = sums_by(worker, rest**2, n_workers)
    in_second = np.zeros(n_workers, dtype=bool)
    in_second[worker[second]] = True
    move = without_levels(second.astype(float), levels)
    kept = move[second].mean() - move[~second].mean()
    return _Workers(sums, counts, squares, in_second), float(kept)


def _statistics(table: _Workers, masks: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    means, spread = np.empty(len(masks)), np.empty(len(masks))
    n, total, square = table.counts.sum(0), table.sums.sum(0), table.squares.sum()
    sizes = table.counts.sum(1)
    for start in range(0, len(masks), _BLOCK):
        rows = slice(start, start + _BLOCK)
        mask = masks[rows].astype(float)
        n2, sum2 = mask @ table.counts, mask @ table.sums
        means[rows] = _between(sum2, n2, total - sum2, n - n2)
        square2, size2 = mask @ table.squares, mask @ sizes
        other, other_size = square - square2, sizes.sum() - size2
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log((square2 / size2) / (other / other_size))
        spread[rows] = np.abs(np.nan_to_num(ratio, nan=0.0, posinf=99, neginf=-99))
    return means, spread


def _between(sum2: Floats, n2: Floats, sum1: Floats, n1: Floats) -> Floats:
    # a system that only one of the two crowds rated is not informative
    both = (n1 > 0) & (n2 > 0)
    gap = sum2 / np.maximum(n2, 1) - sum1 / np.maximum(n1, 1)
    weight = n1 * n2 / np.maximum(n1 + n2, 1)
    return np.asarray(np.where(both, gap**2 * weight, 0.0).sum(axis=-1))


def _p_values(statistic: Floats) -> Floats:
    ascending = np.sort(statistic)
    # values that differ by rounding alone are equal
    scale = max(float(np.abs(ascending).max(initial=0.0)), _SMALL)
    below = np.searchsorted(ascending, statistic - _SMALL * scale, side="left")
    return np.asarray(1 - below / len(statistic), dtype=np.float64)


def _detectable(
    table: _Workers, exchanged: npt.NDArray[np.bool_], critical: float
) -> float | None:
    """Find the shift of one crowd that is significant in 80% of cases."""
    masks = exchanged[:1_000].astype(float)
    n, total = table.counts.sum(0), table.sums.sum(0)
    n2, sum2 = masks @ table.counts, masks @ table.sums

    def finds(move: float) -> bool:
        moved = _between(sum2 + move * n2, n2, total - sum2, n - n2)
        return float((moved > critical).mean()) >= POWER

    high = float(1e-6 + 2 * critical**0.5)
    for _ in range(40):
        if finds(high):
            break
        high *= 2
    else:
        return None
    low = 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if finds(middle) else (middle, high)
    return high


# Two crowds' results on the same systems: scores, ranks, order, and variances.
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
    """
    y = as_ratings(values)
    in_second = np.asarray(second, dtype=bool)
    labels = [np.asarray(one) for one in (systems, workers, instances)]
    names = labels[0].astype(str)
    kept = np.isin(names, np.intersect1d(names[in_second], names[~in_second]))
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
