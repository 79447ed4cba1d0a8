"""Scores of systems that generalize to other workers and other instances.

The estimate is a mixed model's: systems' means with worker and instance effects around
them, so that a system does not gain from lenient workers; in a campaign with enough
days, these are a third source of variation. The interval does not assume the model: it
deletes one worker at a time (jackknife), so that it also holds if workers differ in
spread or disagree about systems, and adds the variance between instances beyond that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.stats.intervals import CoveredInterval, Floats
from leaderboard.stats.systems.campaigns import crowd_groups, join_cells, rated_cells
from leaderboard.stats.systems.fixed_raters import estimate_fixed
from leaderboard.stats.systems.table import (
    RatingTable,
    Variances,
    cell_counts,
    rating_table,
    sums_by,
    variances_of,
)
from leaderboard.stats.systems.weighting import (
    Influence,
    contrasts,
    influence_of,
    weigh_systems,
)

# Lower weights for ratings whose worker may be careless.
#
# A mixed model's means change by known steps without a worker; with a weight, they change
# by a part of it. So no model is fitted again, and full weights change nothing.

# A system with less weight than this keeps all of its ratings.
_LEAST_LEFT = 0.05


@dataclass(frozen=True)
class Weighed:
    """Means with weighted workers.

    Parameters
    ----------
    means : ndarray, shape (systems,)
    cleaning : ndarray, shape (systems, systems)
        Covariance of the means because of uncertain weights.
    """

    means: Floats
    influence: Influence
    cleaning: Floats


def worker_weights(table: RatingTable, weights: npt.ArrayLike) -> Floats:
    """Return each worker's weight, from one for each rating in the given order.

    Examples
    --------
    >>> from leaderboard.stats.systems.table import rating_table
    >>> table = rating_table([1, 4, 4], list("aaa"), list("xyy"))
    >>> worker_weights(table, [0.5, 1, 1]).tolist()
    [0.5, 1.0]
    """
    given = np.asarray(weights, dtype=np.float64)
    own = given[table.row]
    counts = np.bincount(table.worker, minlength=table.n_workers)
    return sums_by(table.worker, own, table.n_workers) / counts


def parts_of(workers: npt.ArrayLike, weights: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Divide workers' ratings into numbered parts with one weight each.

    A worker who began with care and then stopped is two workers to a model: one who
    counts, with a separate leniency, and one who does not.

    Returns
    -------
    ndarray of int, shape (n,)
        One part for a worker with equal weights.

    Examples
    --------
    >>> parts_of(["a", "b", "b", "b"], [0.5, 1.0, 1.0, 0.1]).tolist()
    [0, 2, 2, 1]
    """
    own = np.unique(np.asarray(workers), return_inverse=True)[1].ravel()
    level = np.unique(np.asarray(weights, dtype=np.float64), return_inverse=True)[1]
    pair = own * (int(level.max(initial=0)) + 1) + level.ravel()
    return np.asarray(np.unique(pair, return_inverse=True)[1].ravel(), dtype=np.int64)


def of_workers(
    table: RatingTable, workers: npt.ArrayLike, influence: Influence
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return shares and counts of workers, with their parts combined.

    Examples
    --------
    >>> from leaderboard.stats.systems.weighting import influence_of
    >>> from leaderboard.stats.systems.table import rating_table
    >>> from leaderboard.stats.systems.table import Variances
    >>> from leaderboard.stats.systems.weighting import weigh_systems
    >>> table = rating_table([1, 4, 4], list("aaa"), [0, 1, 2])
    >>> equations = weigh_systems(table, Variances(0.0, 0.0, 1.0, "given"))
    >>> full = influence_of(equations, np.eye(1) / 3, np.array([3.0]))
    >>> of_workers(table, ["x", "y", "y"], full)[1].tolist()
    [[1], [2]]
    """
    first = np.searchsorted(table.worker, np.arange(table.n_workers))
    owner = np.asarray(workers)[table.row[first]]
    names, number = np.unique(owner, return_inverse=True)
    if len(names) == table.n_workers:
        return influence.shares, influence.counts
    shares = np.zeros((len(names), influence.shares.shape[1]))
    counts = np.zeros(shares.shape, dtype=np.int64)
    np.add.at(shares, number.ravel(), influence.shares)
    np.add.at(counts, number.ravel(), influence.counts)
    return shares, counts


def weigh(influence: Influence, means: Floats, weights: Floats) -> Weighed:
    """Apply weights of workers to the means.

    Parameters
    ----------
    influence : Influence
        Of the unweighted means.
    means : ndarray, shape (systems,)
    weights : ndarray, shape (workers,)
        Between 0 and 1: the probability that a worker is careful.

    Returns
    -------
    Weighed
        Exact if a mean is the plain one of its ratings, else to first order in other
        workers' effects. A system with hardly any weight left keeps its
        mean.

    References
    ----------
    Huber and Ronchetti (2009), Robust Statistics, section 1.5 (jackknife influences);
    the variance is that of a sum of independent inclusions.
    """
    shares, weight = influence.shares, weights[:, None]
    left = (weight * shares).sum(axis=0)
    whole = left < _LEAST_LEFT
    # a system with hardly any weight left keeps all ratings
    kept = np.where(whole, 1.0, weight)
    left = np.where(whole, 1.0, left)
    pull = influence.shifts * (1 - shares)
    moved: Floats = ((1 - kept) * pull).sum(axis=0) / left
    pull = pull + shares * moved
    slopes = pull / left
    own = kept * shares
    rest = np.where(left - own > 0, left - own, np.inf)
    unsure = np.sqrt(kept * (1 - kept)) * slopes
    return Weighed(
        means + moved,
        replace(influence, shifts=kept * pull / rest, shares=own / left),
        unsure.T @ unsure,
    )


class Population(StrEnum):
    """The raters for whom an estimate holds: those who rated, or others like them."""

    THESE = "these"
    LIKE = "like"

    @property
    def label(self) -> str:
        return "these raters" if self is Population.THESE else "raters like these"


#: The coverage of these estimates' intervals, in words.
COVERS_CROWD = "which workers rated the outputs and which instances were drawn"
COVERS_WORKERS = "which workers rated the outputs; not which instances were drawn"
COVERS_DAYS = (
    "which workers rated the outputs on which days, and which instances were drawn"
)
COVERS_THESE = "which instances were drawn, for these raters"
# Below this effective number of workers an interval is wide and still approximate.
FEW_WORKERS = 10


@dataclass(frozen=True)
class Difference(Interval):
    """The difference of two systems, in the unit of the ratings.

    Parameters
    ----------
    p_value : float
        Two-sided, of this pair alone.
    standard_error, freedom : float
        Of the estimate; degrees of freedom of its t distribution.
    """

    p_value: float
    standard_error: float
    freedom: float

    @property
    def p_above(self) -> float:
        """The probability that the difference is above 0, with a flat prior."""
        return 1 - self.p_value / 2 if self.estimate >= 0 else self.p_value / 2


@dataclass(frozen=True)
class SystemEstimates:
    """Systems' means, with the input of their intervals and comparisons.

    Parameters
    ----------
    means : ndarray, shape (s,)
        In the unit of the ratings.
    n, n_workers : ndarray of int, shape (s,)
        Ratings and workers of each system.
    effective_workers : ndarray, shape (s,)
        Effective number of workers; at most `n_workers`.
    largest_share : ndarray, shape (s,)
        Largest weight of a worker, 0 to 1.
    worker_part, instance_part, floor : ndarray, shape (s, s)
        Parts of the means' covariance: between workers (their noise with it), between
        instances beyond their noise, and of the rest of single ratings that neither
        workers nor instances explain, which is a lower limit of every variance.
    worker_freedom : ndarray, shape (s, s)
        Degrees of freedom of the first part: of each mean on the diagonal, of each
        difference beside it; NaN if only one worker rated the system.
    day_part : ndarray, shape (s, s)
        Part of the means' covariance between days; 0 if days do not count.
    day_freedom : float
        Degrees of freedom of that part; 0 if days do not count.
    """

    systems: list[str]
    means: Floats
    n: npt.NDArray[np.int64]
    n_workers: npt.NDArray[np.int64]
    effective_workers: Floats
    largest_share: Floats
    variances: Variances
    worker_part: Floats
    instance_part: Floats
    floor: Floats
    worker_freedom: Floats
    n_instances: int
    day_part: Floats
    day_freedom: float = 0.0
    population: Population = Population.LIKE

    @property
    def covariance(self) -> Floats:
        """The covariance of the means: the parts of workers, instances and days."""
        return self.worker_part + self.instance_part + self.day_part

    @cached_property
    def variance(self) -> Floats:
        """The variance of each mean (diagonal) and difference; infinite if unknown."""
        floor = contrasts(self.floor)
        # the part of instances is a difference of two estimates and may be negative
        both = contrasts(self.worker_part) + contrasts(self.instance_part)
        unknown = np.isnan(self.worker_freedom)
        within_days = np.maximum(np.maximum(both, floor), 0.0)
        return np.where(unknown, np.inf, within_days + contrasts(self.day_part))

    @cached_property
    def freedom(self) -> Floats:
        """The degrees of freedom of the same (Satterthwaite); NaN if unknown."""
        if self.population == Population.THESE:
            return self.worker_freedom
        worker = contrasts(self.worker_part)
        instance = np.maximum(contrasts(self.instance_part), 0.0)
        within = instance**2 / max(self.n_instances - 1, 1)
        spread = worker**2 / self.worker_freedom + within
        total = worker + instance
        if self.day_freedom:
            day = contrasts(self.day_part)
            spread = spread + day**2 / self.day_freedom
            total = total + day
        total = total**2
        freedom = self.worker_freedom.copy()
        np.divide(total, spread, out=freedom, where=spread > 0)
        return np.maximum(freedom, 1.0)

    def keep_systems(self, systems: Sequence[str]) -> SystemEstimates:
        """Keep these systems, in this order."""
        places = [self.systems.index(name) for name in systems]
        square = np.ix_(places, places)
        return replace(
            self,
            systems=list(systems),
            means=self.means[places],
            n=self.n[places],
            n_workers=self.n_workers[places],
            effective_workers=self.effective_workers[places],
            largest_share=self.largest_share[places],
            worker_part=self.worker_part[square],
            instance_part=self.instance_part[square],
            floor=self.floor[square],
            worker_freedom=self.worker_freedom[square],
            day_part=self.day_part[square],
        )

    def divide(self, groups: Mapping[str, int]) -> SystemEstimates:
        group = np.array([groups[name] for name in self.systems])
        alike = group[:, None] == group
        freedom = np.where(alike, self.worker_freedom, np.nan)
        return self if alike.all() else replace(self, worker_freedom=freedom)

    def interval(self, system: str, *, confidence: float = 0.95) -> CoveredInterval:
        """Return a system's mean with the interval that covers workers and instances.

        If only one worker rated it, the interval is infinite.
        """
        i = self.systems.index(system)
        reach = self._reach(i, i, confidence)
        mean = float(self.means[i])
        return CoveredInterval(mean, mean - reach, mean + reach, self.covers)

    @property
    def covers(self) -> str:
        if self.population == Population.THESE:
            return COVERS_THESE
        if self.n_instances < 2:
            return COVERS_WORKERS
        return COVERS_DAYS if self.day_freedom else COVERS_CROWD

    def difference(self, a: str, b: str, *, confidence: float = 0.95) -> Difference:
        """Return the difference of system a to system b.

        If only one worker rated either, the interval is infinite.
        """
        i, j = self.systems.index(a), self.systems.index(b)
        gap = float(self.means[i] - self.means[j])
        if i == j:
            return Difference(0.0, 0.0, 0.0, 1.0, 0.0, np.nan)
        reach = self._reach(i, j, confidence)
        error = float(self.variance[i, j]) ** 0.5
        p_value, freedom = float(self.p_values[i, j]), float(self.freedom[i, j])
        return Difference(gap, gap - reach, gap + reach, p_value, error, freedom)

    def _reach(self, i: int, j: int, confidence: float) -> float:
        if np.isnan(self.freedom[i, j]):
            return math.inf
        quantile = _t_quantile(confidence, float(self.freedom[i, j]))
        return float(quantile * float(self.variance[i, j]) ** 0.5)

    @cached_property
    def p_values(self) -> Floats:
        """The unadjusted two-sided p-values of all differences; 1 if unknown."""
        from scipy import special

        gaps = np.abs(self.means[:, None] - self.means[None, :])
        # rounding errors are no differences, also if the error is 0
        scale = np.maximum(np.abs(self.means)[:, None], np.abs(self.means)[None, :])
        equal = gaps <= 1e-9 * np.maximum(scale, 1e-300)
        errors = np.sqrt(self.variance)
        ratios = np.full_like(gaps, np.inf)
        np.divide(gaps, errors, out=ratios, where=errors > 0)
        # as scipy.stats.t.sf, which costs a second to import
        tails = 2 * special.stdtr(np.nan_to_num(self.freedom, nan=1.0), -ratios)
        return np.where(equal | np.isnan(self.freedom), 1.0, tails)


def estimate_systems(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike | None = None,
    days: npt.ArrayLike | None = None,
    *,
    weights: npt.ArrayLike | None = None,
    population: Population = Population.LIKE,
    by_cell: bool = True,
    campaigns: npt.ArrayLike | None = None,
) -> SystemEstimates:
    """Estimate systems' means with intervals that cover workers and instances.

    Parameters
    ----------
    values, systems, workers : array_like, shape (n,)
        Ratings of a numeric scale (logarithms of magnitudes), and the system and
        worker of each.
    instances : array_like, shape (n,), optional
        The instance of each; without it the rest includes instances.
    weights : array_like, shape (n,), optional
        Probability that a rating was given with care, 0 to 1. The means weight ratings
        by it, and their covariance includes its uncertainty.
    days : array_like, shape (n,), optional
        The day of each; used if several systems were rated on at least three days.
    population : Population
        The raters for whom the estimates hold; with `THESE`, days do not count.
    by_cell : bool
        Whether levels that cancel in a worker's ratings of an instance are no noise;
        False is the method of releases whose signatures do not name it.
    campaigns : array_like, shape (n,), optional
        The campaign of each. Systems that several campaigns rated are anchors between
        their crowds. Differences that neither these nor workers connect are unknown.

    Notes
    -----
    With n ratings of s systems the cost grows as n s^2.

    References
    ----------
    Henderson (1975), Biometrics 31 (the estimate); Bell and McCaffrey (2002), Survey
    Methodology 28 (deleting clusters, degrees of freedom); Cameron, Gelbach and Miller
    (2011), Journal of Business and Economic Statistics 29 (two ways of clustering).
    """
    like = population == Population.LIKE
    whose = parts_of(workers, weights) if like and weights is not None else workers
    rated, names, cells = rated_cells(systems, campaigns if like else None)
    table = rating_table(values, rated, whose, instances, days)
    if not like:
        found = _these(table, weights)
        if campaigns is None:
            return found
        return found.divide(crowd_groups(systems, workers, campaigns))
    variances = variances_of(table)
    equations = weigh_systems(table, variances)
    bread: Floats = np.asarray(np.linalg.inv(equations.information), np.float64)
    means: Floats = bread @ equations.right
    influence = influence_of(equations, bread, means, by_cell=by_cell)
    cleaning = np.zeros_like(bread)
    if weights is not None:
        weighed = weigh(influence, means, worker_weights(table, weights))
        means, influence, cleaning = weighed.means, weighed.influence, weighed.cleaning
    if cells is not None and len(names) < table.n_systems:
        # without any spread, the weights of cells still need a variance
        model = bread * (variances.residual or 1e-12)
        join, crowds = join_cells(cells, means, model, variances.total**0.5)
        means, bread = join @ means, join @ bread
        cleaning = join @ cleaning @ join.T + crowds
        influence = replace(
            influence,
            shifts=influence.shifts @ join.T,
            shares=influence.shares[:, cells[-1]],
            counts=influence.counts[:, cells[-1]],
        )
    between, beyond, noise = _parts(influence, bread)
    shares, counts = of_workers(table, workers, influence)
    # between days, from the model: they are too few for weaker assumptions
    of_day = influence.day_weight @ bread.T
    found = SystemEstimates(
        systems=names or table.systems,
        means=means,
        n=counts.sum(axis=0),
        n_workers=(counts > 0).sum(axis=0),
        effective_workers=1 / (shares**2).sum(axis=0),
        largest_share=np.abs(shares).max(axis=0),
        variances=variances,
        worker_part=between + cleaning,
        instance_part=beyond,
        floor=noise * variances.unexplained_share,
        worker_freedom=_freedom(variances, influence, bread, equations.precision),
        n_instances=table.n_instances,
        day_part=variances.day * (of_day.T @ of_day),
        day_freedom=table.day_freedom,
    )
    if campaigns is not None:
        return found.divide(crowd_groups(systems, workers, campaigns))
    return found


def _these(table: RatingTable, weights: npt.ArrayLike | None) -> SystemEstimates:
    own = np.ones(len(table))
    if weights is not None:
        worker_weights(table, weights)
        own = np.asarray(weights, dtype=np.float64)[table.row]
        left = sums_by(table.system, own, table.n_systems) / np.bincount(table.system)
        own = np.where(left[table.system] < _LEAST_LEFT, 1.0, own)
        names, kept = np.array(table.systems)[table.system], own > 0
        labels = (names, table.worker, table.instance)
        table = rating_table(table.values[kept], *(label[kept] for label in labels))
        own = own[kept][table.row]
    variances, counts = variances_of(table), cell_counts(table)
    means, covariance, freedom = estimate_fixed(table, own, variances.ratio("instance"))
    nothing = np.zeros_like(covariance)
    shares = counts / counts.sum(axis=0)
    return SystemEstimates(
        systems=table.systems,
        means=means,
        n=counts.sum(axis=0),
        n_workers=(counts > 0).sum(axis=0),
        effective_workers=1 / (shares**2).sum(axis=0),
        largest_share=shares.max(axis=0),
        variances=variances,
        worker_part=nothing,
        instance_part=covariance,
        floor=nothing,
        worker_freedom=freedom,
        n_instances=table.n_instances,
        day_part=nothing,
        population=Population.THESE,
    )


def _parts(influence: Influence, bread: Floats) -> tuple[Floats, Floats, Floats]:
    n_workers, n_instances = len(influence.shifts), len(influence.instance_scores)
    between = influence.shifts.T @ influence.shifts * (n_workers - 1) / n_workers
    noise = bread @ influence.squares @ bread.T
    if n_instances < 2:
        return between, np.zeros_like(noise), noise
    scores = influence.instance_scores @ bread.T
    factor = n_instances / (n_instances - 1)
    return between, scores.T @ scores * factor - noise, noise


def _freedom(
    variances: Variances, influence: Influence, bread: Floats, precision: Floats
) -> Floats:
    """Return the degrees of freedom of the variance between workers.

    By Satterthwaite, with the expected sizes of workers' contributions under the model.
    """
    counts = influence.counts
    weighed = precision[:, None] * counts
    alone = (counts > 0).sum(axis=0) < 2
    # only the ratio of the two matters; without any spread all ratings have equal
    # weights
    within = (variances.instance + variances.residual) or 1.0
    # systems down, so that summands are contiguous
    noise = np.ascontiguousarray((within * weighed / weighed.sum(axis=0) ** 2).T)
    level = np.ascontiguousarray(bread @ influence.weight.T) * variances.worker**0.5
    freedom = np.full((len(alone), len(alone)), np.nan)
    for i in np.flatnonzero(~alone):
        # of each pair once; in place, as there may be ten thousand workers
        sizes = level[i:] - level[i]
        sizes[0] = level[i]
        np.square(sizes, out=sizes)
        sizes[1:] += noise[i]
        sizes += noise[i:]
        equal = sizes.sum(axis=1) ** 2 / np.einsum("sw,sw->s", sizes, sizes)
        freedom[i, i:] = freedom[i:, i] = np.maximum(equal - 1, 1.0)
    freedom[alone] = freedom[:, alone] = np.nan
    return freedom


def _t_quantile(confidence: float, freedom: float) -> float:
    from scipy import special

    return float(special.stdtrit(freedom, (1 + confidence) / 2))
