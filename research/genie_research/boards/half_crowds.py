"""Agreement of two halves of a real crowd, compared with their intervals."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.clustered import clustered_mean, factor_codes
from leaderboard.stats.intervals import Floats, as_ratings
from leaderboard.stats.systems.estimates import (
    SystemEstimates,
    estimate_systems,
)
from leaderboard.stats.systems.table import Codes
from leaderboard.stats.systems.weighting import contrasts

_LEVEL = 0.05


@dataclass(frozen=True)
class HalfCrowds:
    """Shares of comparisons between halves that lie within their 95% interval.

    Parameters
    ----------
    systems, pairs : float
        Of systems' estimates, and of their differences: variation between workers
        alone, as both halves rated the same instances.
    systems_error, pairs_error : float
        Their Monte-Carlo standard errors over random splits of this crowd.
    systems_total, pairs_total : float
        With the variance of instances, too, which is too wide here.
    systems_plain, pairs_plain : float
        Plain means, whose intervals cover instances only.
    half_width : float
        Mean half-width of the whole crowd's estimates.
    half_width_clustered : float
        That of plain means clustered by worker and instance.
    half_width_least : float
        Of any unbiased estimate: that of the workers' mean level, if each worker's were
        known exactly, with the workers' variance that was estimated.
    """

    n_splits: int
    systems: float
    pairs: float
    systems_error: float
    pairs_error: float
    systems_total: float
    pairs_total: float
    systems_plain: float
    pairs_plain: float
    half_width: float
    half_width_clustered: float
    half_width_least: float

    @property
    def width_ratio(self) -> float:
        return self.half_width / self.half_width_clustered

    @property
    def least_ratio(self) -> float:
        return self.half_width_least / self.half_width_clustered


def half_crowds(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    *,
    n_splits: int,
    seed: int,
) -> HalfCrowds:
    from scipy import special

    ratings = as_ratings(values)
    coded = factor_codes(
        {"system": systems, "worker": workers, "instance": instances}, len(ratings)
    )
    (system, n_systems), (worker, n_workers), (instance, _) = coded.values()
    if n_workers < 4:
        raise ValueError(f"Halves need two workers each; there are {n_workers} in all.")
    if n_splits < 1:
        raise ValueError("At least one split is needed.")
    # zero-padded, so that names and numbers have the same order
    names = np.char.zfill(system.astype(str), len(str(n_systems)))
    rng = np.random.default_rng(seed)
    hits = np.zeros((3, 2))
    seen, by_split = np.zeros(2), np.zeros((n_splits, 2))
    for split in range(n_splits):
        first = np.zeros(n_workers, dtype=np.bool_)
        first[rng.permutation(n_workers)[: n_workers // 2]] = True
        rows = first[worker]
        halves = [
            _half(ratings[own], names[own], worker[own], instance[own])
            for own in (rows, ~rows)
        ]
        one, other = (_of_shared(half, halves) for half in halves)
        k = len(one[0])
        of_each = np.array([k, k * (k - 1) / 2])
        within = _within(one, other)
        by_split[split] = within[0] / np.maximum(of_each, 1)
        seen += of_each
        hits += within
    shares = hits / np.maximum(seen, 1)
    whole = estimate_systems(ratings, names, worker, instance)
    rated = np.flatnonzero(whole.n_workers > 1)
    width = [whole.interval(whole.systems[i]).half_width for i in rated]
    clustered = [
        _clustered_half_width(
            ratings, worker, instance, system == int(whole.systems[i]), seed
        )
        for i in rated
    ]
    quantile = float(special.stdtrit(n_workers - 1, 1 - _LEVEL / 2))
    own, total, plain = shares.tolist()
    # one split has no variance
    errors = by_split.std(axis=0) / max(n_splits - 1, 1) ** 0.5
    return HalfCrowds(
        n_splits=n_splits,
        systems=own[0],
        pairs=own[1],
        systems_error=float(errors[0]),
        pairs_error=float(errors[1]),
        systems_total=total[0],
        pairs_total=total[1],
        systems_plain=plain[0],
        pairs_plain=plain[1],
        half_width=float(np.mean(width)),
        half_width_clustered=float(np.mean(clustered)),
        half_width_least=quantile * math.sqrt(whole.variances.worker / n_workers),
    )


def _clustered_half_width(
    ratings: Floats,
    worker: Codes,
    instance: Codes,
    rows: npt.NDArray[np.bool_],
    seed: int,
) -> float:
    factors = {"worker": worker[rows], "instance": instance[rows]}
    return clustered_mean(ratings[rows], factors, seed=seed).half_width


Half = tuple[SystemEstimates, Floats, Floats]
# of the shared systems: means, then variance and freedom of the kinds of interval
Shared = tuple[Floats, Floats, list[tuple[Floats, Floats]]]


def _half(
    ratings: Floats, names: npt.NDArray[np.str_], worker: Codes, instance: Codes
) -> Half:
    found = estimate_systems(ratings, names, worker, instance)
    means, variances = np.empty(len(found.systems)), np.empty(len(found.systems))
    for i, name in enumerate(found.systems):
        own = names == name
        _, item = np.unique(instance[own], return_inverse=True)
        scores = np.bincount(item, ratings[own]) / np.bincount(item)
        means[i] = scores.mean()
        variances[i] = scores.var(ddof=1) / len(scores) if len(scores) > 1 else np.inf
    return found, means, variances


def _of_shared(half: Half, halves: list[Half]) -> Shared:
    names = [
        {s for s, n in zip(h[0].systems, h[0].n_workers, strict=True) if n > 1}
        for h in halves
    ]
    found, plain, plain_variance = half
    both = names[0] & names[1]
    kept = np.array([i for i, s in enumerate(found.systems) if s in both], dtype=int)
    box = np.ix_(kept, kept)
    worker = contrasts(found.worker_part[box])
    spread = plain_variance[kept]
    independent = spread[:, None] + spread
    np.fill_diagonal(independent, spread)
    kinds = [
        (worker, found.worker_freedom[box]),
        (found.variance[box], found.freedom[box]),
        (independent, np.full_like(independent, np.inf)),
    ]
    return found.means[kept], plain[kept], kinds


def _within(one: Shared, other: Shared) -> Floats:
    from scipy import special

    upper = np.triu_indices(len(one[0]), 1)
    counts = np.zeros((3, 2))
    kinds = zip(one[2], other[2], strict=True)
    for kind, ((variance, freedom), (variance_2, freedom_2)) in enumerate(kinds):
        moved = one[1] - other[1] if kind == 2 else one[0] - other[0]
        gap = moved[:, None] - moved
        np.fill_diagonal(gap, moved)
        total = variance + variance_2
        with np.errstate(invalid="ignore", divide="ignore"):
            rest = variance**2 / freedom + variance_2**2 / freedom_2
            together = np.where(rest > 0, total**2 / rest, 1e9)
        reach = special.stdtrit(np.minimum(together, 1e9), 1 - _LEVEL / 2) * total**0.5
        holds = np.abs(gap) <= reach
        counts[kind] = [np.diag(holds).sum(), holds[upper].sum()]
    return counts
