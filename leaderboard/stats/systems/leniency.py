"""The spread of workers' leniency, and workers whose leniency is significant."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.multiplicity import benjamini_hochberg
from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.stats.systems.table import rating_table, sums_by


@dataclass(frozen=True)
class Leniency:
    """The spread of workers' levels.

    Parameters
    ----------
    strict, lenient : int
        Workers who rate significantly below and above the others on the same systems;
        at most a share `rate` of them is expected to be there by chance.
    typical_gap : float
        Mean difference of two workers' ratings of one output because of their levels,
        in the unit of the ratings.
    """

    n_workers: int
    strict: int
    lenient: int
    typical_gap: float
    rate: float


def leniency(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    estimates: SystemEstimates,
    *,
    rate: float = 0.05,
) -> Leniency:
    """Compare each worker's ratings with their expectation from the systems' estimates.

    Parameters
    ----------
    values, systems, workers : array_like, shape (n,)
        The input of `estimates`.

    Notes
    -----
    Under "this worker is like the average one", the mean of n residuals is taken as
    normal with variance (instance + residual) / n.

    References
    ----------
    Benjamini and Hochberg (1995), JRSS B 57, section 3.1; Gini's mean difference of a
    normal variable: Yitzhaki (2003), Metron 61, section 2.

    Examples
    --------
    >>> from leaderboard.stats.systems.estimates import estimate_systems
    >>> rng = np.random.default_rng(2)
    >>> worker, system = np.arange(600) % 30, np.arange(600) // 300
    >>> ratings = 60 + 12 * (worker == 7) + rng.normal(0, 9, 600)
    >>> found = leniency(ratings, system, worker, estimate_systems(ratings, system, worker))
    >>> found.strict, found.lenient
    (0, 1)
    """
    from scipy import special

    table = rating_table(values, systems, workers)
    counts = np.bincount(table.worker, minlength=table.n_workers)
    means = estimates.of(table.systems).means
    above = sums_by(table.worker, table.values - means[table.system], table.n_workers)
    found = estimates.variances
    noise = found.instance + found.residual
    gap = 2 * (found.worker / np.pi) ** 0.5
    if noise <= 0:
        return Leniency(table.n_workers, 0, 0, gap, rate)
    z = above / np.sqrt(counts * noise)
    claimed = benjamini_hochberg(special.erfc(np.abs(z) / 2**0.5)) <= rate
    return Leniency(
        table.n_workers,
        int((claimed & (z < 0)).sum()),
        int((claimed & (z > 0)).sum()),
        gap,
        rate,
    )
