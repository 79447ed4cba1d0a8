"""The number of ratings whose removal changes the first place."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats
from leaderboard.stats.systems.table import (
    RatingTable,
    Variances,
    rating_table,
    variances_of,
)
from leaderboard.stats.systems.weighting import weigh_systems

# The first guess is linear; after that the set grows by this share until it is enough.
_GROWTH = 1.05


@dataclass(frozen=True)
class Fragility:
    """The smallest set of ratings found without which a different system leads.

    Parameters
    ----------
    leader, rival : str
        The leader, and the leader without these ratings.
    n_ratings, share : int, float
        Their number, and their share of all ratings.
    rows : ndarray of int
        Their places in the input, the most decisive first.
    """

    leader: str
    rival: str
    n_ratings: int
    share: float
    rows: npt.NDArray[np.intp]


def ratings_to_drop(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike | None = None,
    days: npt.ArrayLike | None = None,
) -> Fragility | None:
    """Find few ratings whose removal changes the first place.

    Parameters
    ----------
    values, systems, workers, instances, days : array_like, shape (n,)
        See `leaderboard.stats.systems.estimates.estimate_systems`.

    Returns
    -------
    Fragility or None
        None with fewer than two systems, a tie at the top, or if only the removal of
        all ratings of a system changes the order. The set is found by the ratings'
        influence and checked by an estimate without them; no smaller one is ruled out.

    References
    ----------
    Broderick, Giordano and Meager (2020), An Automatic Finite-Sample Robustness Metric,
    arXiv 2011.14999, section 2.
    """
    table = rating_table(values, systems, workers, instances, days)
    if table.n_systems < 2:
        return None
    variances = variances_of(table)
    means, influence = _contributions(table, variances)
    order = np.lexsort((np.arange(len(means)), -means))
    leader = int(order[0])
    # a lead by rounding is a tie
    lead = float(means[leader] - means[order[1]])
    if lead <= 1e-9 * max(float(np.abs(means).max()), 1e-300):
        return None
    guesses = []
    for place, rival in enumerate(order[1:].tolist()):
        gap = float(means[leader] - means[rival])
        guess = _guess(influence[:, leader] - influence[:, rival], gap)
        guesses.append((guess, place, rival))
    best: tuple[int, int, Fragility] | None = None
    for guess, place, rival in sorted(guesses):
        # no search ends below its guess
        if best is not None and (guess, place) > best[:2]:
            continue
        moved = influence[:, leader] - influence[:, rival]
        found = _smallest(table, variances, leader, rival, guess, moved)
        if found is not None and (best is None or (found.n_ratings, place) < best[:2]):
            best = (found.n_ratings, place, found)
    return best[2] if best else None


def _contributions(table: RatingTable, variances: Variances) -> tuple[Floats, Floats]:
    equations = weigh_systems(table, variances)
    bread: Floats = np.asarray(np.linalg.inv(equations.information), np.float64)
    means: Floats = bread @ equations.right
    residuals = table.values - means[table.system]
    weights = np.concatenate([block for _, _, block in equations.blocks()])
    return means, weights @ bread.T * residuals[:, None]


def _guess(moved: Floats, gap: float) -> int:
    falling = np.sort(moved[moved > 0])[::-1]
    enough = np.flatnonzero(np.cumsum(falling) >= gap)
    return int(enough[0]) + 1 if len(enough) else len(falling)


def _smallest(
    table: RatingTable,
    variances: Variances,
    leader: int,
    rival: int,
    size: int,
    moved: Floats,
) -> Fragility | None:
    order = np.argsort(-moved, kind="stable")
    helpful = order[moved[order] > 0]
    while size <= len(helpful):
        if _overtakes(table, variances, leader, rival, helpful[:size]):
            return Fragility(
                table.systems[leader],
                table.systems[rival],
                size,
                size / len(table),
                table.row[helpful[:size]],
            )
        size = max(size + 1, int(size * _GROWTH))
    return None


def _overtakes(
    table: RatingTable,
    variances: Variances,
    leader: int,
    rival: int,
    dropped: npt.NDArray[np.intp],
) -> bool:
    """Estimate again without some ratings, but with the same variances."""
    kept = np.ones(len(table), dtype=np.bool_)
    kept[dropped] = False
    counts = np.bincount(table.system[kept], minlength=table.n_systems)
    if not counts.all():
        return False
    rest = rating_table(
        table.values[kept],
        table.system[kept],
        table.worker[kept],
        table.instance[kept],
        table.day[kept] if table.n_days else None,
    )
    equations = weigh_systems(rest, variances)
    means = np.linalg.solve(equations.information, equations.right)
    return bool(means[rival] > means[leader])
