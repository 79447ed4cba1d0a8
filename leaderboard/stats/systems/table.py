"""Ratings of several systems as numbered columns, in an order independent of labels."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats, as_ratings
from leaderboard.stats.mixed import pilot_components

Codes = npt.NDArray[np.intp]
# Fewer days with several systems each do not determine the variance of days.
ENOUGH_DAYS = 3


@dataclass(frozen=True)
class RatingTable:
    """Ratings sorted by worker, system and instance, with numbers for labels.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Finite.
    system, worker, instance : ndarray of int, shape (n,)
        Numbers from 0 of each rating's system, worker and instance.
    systems : list of str
        Names, ascending; the other labels are not kept.
    row : ndarray of int, shape (n,)
        Place of each rating in the input.
    day : ndarray of int, shape (n,)
        Number from 0 of each rating's day; empty if days do not count.
    n_days : int
        0 if days do not count.
    """

    values: Floats
    system: Codes
    worker: Codes
    instance: Codes
    systems: list[str]
    n_workers: int
    n_instances: int
    row: Codes
    day: Codes
    n_days: int = 0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_systems(self) -> int:
        return len(self.systems)

    @property
    def levels(self) -> list[Codes]:
        """The numbers of each rating's instance and day in one row of effects."""
        return [self.instance, self.n_instances + self.day][: 1 + (self.n_days > 0)]

    @property
    def n_levels(self) -> int:
        return self.n_instances + self.n_days

    @property
    def day_freedom(self) -> float:
        """The effective number of days minus one, at least 1; 0 without days."""
        if not self.n_days:
            return 0.0
        counts = np.bincount(self.day).astype(np.float64)
        return max(float(counts.sum() ** 2 / (counts**2).sum()) - 1, 1.0)


def rating_table(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike | None = None,
    days: npt.ArrayLike | None = None,
    *,
    compared: bool = False,
) -> RatingTable:
    """Replace labels by numbers, and sort the ratings.

    Parameters
    ----------
    values, systems, workers : array_like, shape (n,)
        Ratings, and the system and worker of each.
    instances : array_like, shape (n,), optional
        The instance of each; without it every rating has a separate one.
    days : array_like, shape (n,), optional
        The day of each. Days count if there are at least three on which several systems
        were rated.
    compared : bool
        Whether each value compares two systems, as a preference does.

    Returns
    -------
    RatingTable
        Workers are numbered by their ratings and not by their names, so that sums of
        floating-point numbers do not change with a pseudonym.

    Examples
    --------
    >>> table = rating_table([3, 1], ["b", "a"], ["x", "y"])
    >>> table.systems, table.system.tolist(), table.values.tolist()
    (['a', 'b'], [0, 1], [1.0, 3.0])
    """
    ratings = as_ratings(values)
    n = len(ratings)
    system, names = _number_labels(systems, n, "system")
    worker, _ = _number_labels(workers, n, "worker")
    instance = (
        np.arange(n, dtype=np.intp)
        if instances is None
        else _number_labels(instances, n, "instance")[0]
    )
    day, n_days = _days(days, system, 1 if compared else 2)
    order = np.lexsort((ratings, instance, system))
    worker = _by_appearance(worker[order])
    by_worker = np.lexsort((system[order], worker))
    order, worker = order[by_worker], worker[by_worker]
    return RatingTable(
        ratings[order],
        system[order],
        worker,
        instance[order],
        names,
        int(worker[-1]) + 1,
        int(instance.max()) + 1,
        order,
        day[order] if n_days else day,
        n_days,
    )


def _days(days: npt.ArrayLike | None, system: Codes, fewest: int) -> tuple[Codes, int]:
    none = np.empty(0, dtype=np.intp)
    if days is None:
        return none, 0
    day, names = _number_labels(days, len(system), "day")
    seen = np.unique(np.column_stack([day, system]), axis=0)[:, 0]
    several = int((np.bincount(seen) >= fewest).sum())
    return (day, len(names)) if several >= ENOUGH_DAYS else (none, 0)


def sums_by(codes: Codes, values: Floats, n_levels: int) -> Floats:
    """Add up the values of each level.

    Examples
    --------
    >>> sums_by(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [4.0, 0.0, 2.0]
    """
    return np.asarray(np.bincount(codes, values, n_levels), dtype=np.float64)


def cell_counts(table: RatingTable) -> npt.NDArray[np.int64]:
    """Count each worker's ratings of each system.

    Examples
    --------
    >>> cell_counts(rating_table([1, 2, 4], list("aab"), list("xxy"))).tolist()
    [[2, 0], [0, 1]]
    """
    key = table.worker * table.n_systems + table.system
    counts = np.bincount(key, minlength=table.n_workers * table.n_systems)
    return counts.reshape(table.n_workers, table.n_systems).astype(np.int64)


def _number_labels(labels: npt.ArrayLike, n: int, name: str) -> tuple[Codes, list[str]]:
    # hashes, because numpy sorts strings: a second less for a million ratings
    import pandas as pd

    array = np.asarray(labels)
    codes, levels = pd.factorize(array, sort=True)
    if (codes < 0).any():
        raise ValueError(f"Rating {int(np.argmin(codes)) + 1} has no {name}.")
    return codes.astype(np.intp), [str(level) for level in levels]


def _by_appearance(codes: Codes) -> Codes:
    levels, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(len(levels), dtype=np.intp)
    place[np.argsort(first, kind="stable")] = np.arange(len(levels))
    return place[inverse]


# Variances of ratings: between workers, between instances, and the rest.

# Limit of multiplications of one step of the exact fit; beyond it, moments are used.
_AFFORDABLE = 1e9
# Fewer workers do not determine their variance: two of them, one with all the easy
# outputs, would look like one lenient and one strict.
_ENOUGH_WORKERS = 5
_SWEEPS = 10


@dataclass(frozen=True)
class Variances:
    """Variances of the effects behind ratings, in squared units of the ratings.

    Parameters
    ----------
    worker, instance : float
        Of workers' and instances' effects; 0 if they cannot be separated from the rest.
    residual : float
        Of everything else.
    method : str
        "REML", "moments", or "none" with too few ratings for either.
    day : float
        Of days' effects; 0 if days do not count.
    taste : float
        Part of `residual` that a worker's ratings of one system share: workers prefer
        different systems. 0 if the ratings do not show it.
    """

    worker: float
    instance: float
    residual: float
    method: str
    day: float = 0.0
    taste: float = 0.0

    @property
    def total(self) -> float:
        return self.worker + self.instance + self.residual + self.day

    @property
    def unexplained_share(self) -> float:
        """The share of single ratings' variance that is neither workers' nor instances'.

        Independent ratings vary by all of it; but systems that were rated on the same
        instances differ by less, and then the whole would be no lower bound: equal
        systems would differ significantly in 1% of cases at a level of 5%.
        """
        total = self.total - self.day
        return self.residual / total if total > 0 else 1.0

    def ratio(self, effect: str) -> float:
        if self.residual <= 0:
            return 0.0
        return float(getattr(self, effect)) / self.residual


def variances_of(table: RatingTable) -> Variances:
    """Estimate the variances, by restricted maximum likelihood if affordable.

    Returns
    -------
    Variances
        With fewer than five workers, theirs is 0: the means are then those
        of instances, and their intervals wide, as few workers shift them a lot.

    References
    ----------
    Patterson and Thompson (1971), Biometrika 58 (REML); Gao and Owen (2017), Efficient
    moment calculations for variance components in large unbalanced crossed random
    effects models, Electronic Journal of Statistics 11, section 4.

    Examples
    --------
    >>> from leaderboard.stats.systems.table import rating_table
    >>> variances_of(rating_table([2, 2, 2], list("aab"), list("xyx"))).method
    'none'
    """
    if len(table) <= table.n_systems or not np.ptp(table.values):
        return Variances(0.0, 0.0, 0.0, "none")
    found = _likeliest(table) if _cost(table) <= _AFFORDABLE else _moments(table)
    return replace(found, taste=_taste(table, found))


def _likeliest(table: RatingTable) -> Variances:
    found = pilot_components(
        table.values,
        instances=table.instance,
        workers=table.worker if table.n_workers >= _ENOUGH_WORKERS else None,
        days=table.day if table.n_days else None,
        systems=table.system,
    )
    return Variances(found.worker, found.instance, found.residual, "REML", found.day)


def _taste(table: RatingTable, found: Variances) -> float:
    """Estimate the shared part of a worker's ratings of one system, from residuals.

    Fitting the workers' levels removes some of it, so that it is rather too small:
    ratings without visible taste are weighted as if there were none.
    """
    counts = cell_counts(table)
    pairs = float((counts * (counts - 1)).sum())
    several = (counts > 0).sum(axis=1)
    if not (pairs and found.residual and found.worker) or several.max() < 2:
        return 0.0
    rest = _residuals(table, found)
    n_cells = table.n_workers * table.n_systems
    sums = sums_by(table.worker * table.n_systems + table.system, rest, n_cells)
    shared = (float(sums @ sums) - float(rest @ rest)) / pairs
    # a worker's level has the mean of the shared parts over all systems
    left = 1 - 1 / max(float(several[several > 0].mean()), 2.0)
    return min(max(shared / left, 0.0), found.residual)


def _residuals(table: RatingTable, found: Variances) -> Floats:
    effects = [(table.worker, found.worker), (table.instance, found.instance)]
    if table.n_days:
        effects.append((table.day, found.day))
    fitted = [
        (codes, np.bincount(codes) + found.residual / variance)
        for codes, variance in effects
        if variance > 0
    ]
    fitted.append((table.system, np.bincount(table.system).astype(np.float64)))
    levels = [np.zeros(len(sizes)) for _, sizes in fitted]
    rest: Floats = table.values - table.values.mean()
    for _ in range(_SWEEPS):
        for place, (codes, sizes) in enumerate(fitted):
            step = sums_by(codes, rest, len(sizes)) / sizes
            # penalties beyond the counts shrink levels towards 0
            step -= levels[place] * (1 - np.bincount(codes) / sizes)
            levels[place] += step
            rest -= step[codes]
    return rest


def _cost(table: RatingTable) -> float:
    by_worker = np.bincount(table.worker)
    smaller, larger = sorted((by_worker, np.bincount(table.instance)), key=len)
    # the smaller factor is solved densely, the larger one eliminated level by level
    dense = float(table.n_systems + len(smaller) + table.n_days) ** 3
    return dense + 10 * float((larger.astype(np.float64) ** 2).sum())


def _moments(table: RatingTable) -> Variances:
    n = float(len(table))
    means = sums_by(table.system, table.values, table.n_systems) / np.bincount(
        table.system
    )
    centered = table.values - means[table.system]
    factors = [table.worker, table.instance, *([table.day] if table.n_days else [])]
    counts = [np.bincount(codes).astype(np.float64) for codes in factors]
    size = len(factors)
    matrix = np.zeros((size + 1, size + 1))
    for a in range(size):
        matrix[a, size] = n - len(counts[a])
        matrix[size, a] = n - (counts[a] ** 2).sum() / n
        for b in range(a):
            within_a, within_b = _shared_counts(
                factors[a], factors[b], counts[a], counts[b]
            )
            matrix[a, b], matrix[b, a] = n - within_a, n - within_b
    matrix[size, size] = n - 1
    squares = [
        _within(codes, centered, each)
        for codes, each in zip(factors, counts, strict=True)
    ]
    # a mean was subtracted per system, not one of all
    whole = float(centered @ centered) * (n - 1) / max(n - table.n_systems, 1.0)
    # a column of zeros: a level per rating, or one level, does not determine its
    # variance
    solution, *_ = np.linalg.lstsq(
        matrix / n, np.array([*squares, whole]) / n, rcond=1e-9
    )
    worker, instance, *day, residual = (max(float(value), 0.0) for value in solution)
    return Variances(worker, instance, residual, "moments", *day)


def _shared_counts(
    a: Codes, b: Codes, counts_a: Floats, counts_b: Floats
) -> tuple[float, float]:
    cell, in_cell = np.unique(a * len(counts_b) + b, return_counts=True)
    together = in_cell.astype(np.float64) ** 2
    of_a = (together / counts_a[cell // len(counts_b)]).sum()
    return float(of_a), float((together / counts_b[cell % len(counts_b)]).sum())


def _within(codes: Codes, values: Floats, counts: Floats) -> float:
    sums = sums_by(codes, values, len(counts))
    return float(values @ values - (sums**2 / np.maximum(counts, 1)).sum())
