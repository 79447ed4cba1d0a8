"""Ratings of several systems as numbered columns, in an order independent of labels."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import as_ratings
from leaderboard.stats.resampling import Floats

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
    system, names = _numbered(systems, n, "system")
    worker, _ = _numbered(workers, n, "worker")
    instance = (
        np.arange(n, dtype=np.intp)
        if instances is None
        else _numbered(instances, n, "instance")[0]
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
    day, names = _numbered(days, len(system), "day")
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


def _numbered(labels: npt.ArrayLike, n: int, name: str) -> tuple[Codes, list[str]]:
    # hashes, because numpy sorts strings: a second less for a million ratings
    import pandas as pd

    array = np.asarray(labels)
    if array.shape != (n,):
        raise ValueError(f"Every rating needs one {name}: {n} of them.")
    codes, levels = pd.factorize(array, sort=True)
    if (codes < 0).any():
        raise ValueError(f"Rating {int(np.argmin(codes)) + 1} has no {name}.")
    return codes.astype(np.intp), [str(level) for level in levels]


def _by_appearance(codes: Codes) -> Codes:
    levels, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(len(levels), dtype=np.intp)
    place[np.argsort(first, kind="stable")] = np.arange(len(levels))
    return place[inverse]
