"""Systems ranked by the paired bootstrap, all pairs on one set of resamples."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats, lattice_step
from leaderboard.stats.multiplicity import significance_clusters
from leaderboard.stats.systems.per_item import as_table

# so that the counts of one chunk fit into a processor's cache
_CHUNK_ROWS = 100


@dataclass(frozen=True)
class BootstrapRanking:
    """Systems ranked by their means, in clusters separated by the paired bootstrap.

    Parameters
    ----------
    clusters : list of int
        Cluster of each system, 1 being the best.
    means : ndarray, shape (s,)
        Mean of each system.
    p_above : ndarray, shape (s, s)
        Share of resamples in which the row's system is above the column's, ties
        counting one half.
    """

    clusters: list[int]
    means: Floats
    p_above: Floats


def bootstrap_ranking(
    scores: npt.ArrayLike, *, seed: int, n_resamples: int = 10_000, share: float = 0.95
) -> BootstrapRanking:
    """Rank systems by the paired bootstrap, one-sided, as is usual in the field.

    Parameters
    ----------
    scores : array_like, shape (n, s)
        Rating of each system (across) on each instance or judgement (down). Use
        logarithms to rank by geometric means.
    share : float
        A system is better than another if it is above in at least this share of
        resamples; 0.5 < share <= 1.

    Notes
    -----
    One-sided shares uncorrected for the number of pairs claim more than a two-sided
    test at the same level, and only instances are resampled;
    `leaderboard.stats.systems.ranks` controls all pairs jointly and covers other raters.

    References
    ----------
    Koehn (2004), section 4.2; Novikova, Dušek and Rieser (2018), RankME, section 5.
    """
    table = as_table(scores)
    columns, resampled = resample_systems(table, n_resamples, seed)
    p_above = np.empty((len(columns), len(columns)))
    p_above[np.ix_(columns, columns)] = _shares_above(resampled)
    means = np.sort(table, axis=0).mean(axis=0)
    return BootstrapRanking(
        significance_clusters(means, p_above >= share), means, p_above
    )


def _shares_above(resampled: Floats) -> Floats:
    """Count for each pair of rows how often one is above the other, ties one half.

    Row by row into one buffer: it stays in the processor's cache, and counting a whole
    array of truths is many times faster than counting along an axis.
    """
    n_systems, n_resamples = resampled.shape
    above = np.full((n_systems, n_systems), 0.5)
    truths = np.empty(n_resamples, dtype=np.bool_)
    for i in range(n_systems - 1):
        for j in range(i + 1, n_systems):
            n_above = np.count_nonzero(
                np.greater(resampled[i], resampled[j], out=truths)
            )
            n_equal = np.count_nonzero(np.equal(resampled[i], resampled[j], out=truths))
            above[i, j] = (n_above + n_equal / 2) / n_resamples
            above[j, i] = 1 - above[i, j]
    return above


def resample_systems(
    table: Floats, n_resamples: int, seed: int
) -> tuple[npt.NDArray[np.intp], Floats]:
    """Draw instances with replacement, the same for all systems, and average.

    Parameters
    ----------
    table : ndarray, shape (n, s)
        Ratings, finite.

    Returns
    -------
    columns : ndarray of int, shape (s,)
        Row k of the means belongs to system columns[k]: systems are put in an order
        that depends on their ratings only.
    means : ndarray, shape (s, n_resamples)
        Resampled means, rounded so that equal means are equal numbers.

    Examples
    --------
    >>> columns, means = resample_systems(np.array([[1.0, 0.0], [1.0, 0.5]]), 3, 1)
    >>> columns.tolist(), means[1].tolist()
    ([1, 0], [1.0, 1.0, 1.0])
    """
    if n_resamples < 1:
        raise ValueError(f"At least one resample is needed, not {n_resamples}.")
    columns = np.lexsort(np.sort(table, axis=0)[::-1])
    table = table[:, columns]
    # rows and columns ordered by their values: the given order must not change the
    # draw
    table = table[np.lexsort(table.T[::-1])]
    n, n_systems = table.shape
    rng = np.random.default_rng(seed)
    # a power of two, so that rounding to it is exact
    unit = 2.0 ** np.floor(np.log2(1e-11 * max(float(np.abs(table).max()), 1e-290)))
    means = np.empty((n_systems, n_resamples))
    lowest, step, levels = _levels(table)
    for start in range(0, n_resamples, _CHUNK_ROWS):
        rows = min(_CHUNK_ROWS, n_resamples - start)
        drawn = rng.integers(0, n, size=(rows, n), dtype=np.int32).astype(np.intp)
        drawn += (np.arange(rows) * n)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        sums = (counts.astype(levels.dtype) @ levels).T
        means[:, start : start + rows] = lowest + step / n * sums
    # equal means must compare equal for any order of summation
    np.rint(means / unit, out=means)
    means *= unit
    return columns, means


def _levels(table: Floats) -> tuple[float, float, npt.NDArray[np.floating]]:
    """Return a table as lowest + step * levels, with whole levels if it has steps.

    Sums of whole levels below 2**24 are exact in single precision, which is twice as
    fast as double.
    """
    distinct = np.unique(table)
    if len(distinct) > 1:
        lowest, step = float(distinct[0]), lattice_step(distinct)
        if step is not None:
            levels = np.rint((table - lowest) / step)
            if levels.max() * len(table) < 2**24:
                return lowest, step, levels.astype(np.float32)
    return 0.0, 1.0, table
