"""Variances of ratings: between workers, between instances, and the rest."""

from dataclasses import dataclass, replace

import numpy as np

from leaderboard.stats.mixed import fit_mixed
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.table import Codes, RatingTable, cell_counts, sums_by

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
    def unexplained(self) -> float:
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
    exact = _cost(table) <= _AFFORDABLE
    found = _likeliest(table) if exact else _moments(table)
    return replace(found, taste=_taste(table, found))


def _likeliest(table: RatingTable) -> Variances:
    factors = {"instance": table.instance}
    if table.n_workers >= _ENOUGH_WORKERS:
        factors["worker"] = table.worker
    if table.n_days:
        factors["day"] = table.day
    fit = fit_mixed(table.values, table.system, factors)
    found = fit.variances
    return Variances(
        found.get("worker", 0.0),
        found.get("instance", 0.0),
        found["residual"],
        "REML",
        found.get("day", 0.0),
    )


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
    by_instance = np.bincount(table.instance)
    smaller, larger = sorted((by_worker, by_instance), key=len)
    # the smaller factor is solved densely, the larger one eliminated level by level
    dense = float(table.n_systems + len(smaller) + table.n_days) ** 3
    return dense + 10 * float((larger.astype(np.float64) ** 2).sum())


def _moments(table: RatingTable) -> Variances:
    n = float(len(table))
    means = sums_by(table.system, table.values, table.n_systems) / np.bincount(
        table.system
    )
    centred = table.values - means[table.system]
    factors = [table.worker, table.instance, *([table.day] if table.n_days else [])]
    counts = [np.bincount(codes).astype(np.float64) for codes in factors]
    size = len(factors)
    matrix = np.zeros((size + 1, size + 1))
    for a in range(size):
        matrix[a, size] = n - len(counts[a])
        matrix[size, a] = n - (counts[a] ** 2).sum() / n
        for b in range(a):
            within_a, within_b = _shared(factors[a], factors[b], counts[a], counts[b])
            matrix[a, b], matrix[b, a] = n - within_a, n - within_b
    matrix[size, size] = n - 1
    squares = [
        _within(codes, centred, each)
        for codes, each in zip(factors, counts, strict=True)
    ]
    # a mean was subtracted per system, not one of all
    whole = float(centred @ centred) * (n - 1) / max(n - table.n_systems, 1.0)
    # a column of zeros: a level per rating, or one level, does not determine its
    # variance
    solution, *_ = np.linalg.lstsq(
        matrix / n, np.array([*squares, whole]) / n, rcond=1e-9
    )
    worker, instance, *day, residual = (max(float(value), 0.0) for value in solution)
    return Variances(worker, instance, residual, "moments", *day)


def _shared(
    a: Codes, b: Codes, counts_a: Floats, counts_b: Floats
) -> tuple[float, float]:
    cell, in_cell = np.unique(a * len(counts_b) + b, return_counts=True)
    together = in_cell.astype(np.float64) ** 2
    of_a = (together / counts_a[cell // len(counts_b)]).sum()
    return float(of_a), float((together / counts_b[cell % len(counts_b)]).sum())


def _within(codes: Codes, values: Floats, counts: Floats) -> float:
    sums = sums_by(codes, values, len(counts))
    return float(values @ values - (sums**2 / np.maximum(counts, 1)).sum())
