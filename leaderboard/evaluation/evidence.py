"""Evidence behind a board's scores: agreement, workers, how secure first place is."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leaderboard.designs.base import Unit
from leaderboard.evaluation.estimates import (
    DIGITS,
    compared_values,
    groups_of,
    is_unidentified,
)
from leaderboard.stats.multiplicity import benjamini_hochberg
from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.stats.systems.fragility import ratings_to_drop
from leaderboard.stats.systems.ranks import rank_sum_ranking
from leaderboard.stats.systems.table import rating_table, sums_by
from leaderboard.tasks.config import Z_SCORES
from quality.agreement.kappa import percentage_agreement
from quality.agreement.krippendorff import Level, krippendorff_alpha
from quality.agreement.label_counts import tally

if TYPE_CHECKING:
    import pandas as pd


# The spread of workers' leniency, and workers whose leniency is significant.
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
    means = estimates.keep_systems(table.systems).means
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


# Ratings x systems; above it the search for decisive ratings takes minutes.
_SEARCHED = 2e7
# Outputs x distinct values; above the first no interval is computed, above the second
# no agreement.
_RESAMPLED, _COUNTED = 5e5, 1e7
_RESAMPLES = 500
# With more answers to choose from, equal answers are not informative.
_FEW_ANSWERS = 10


def board_evidence(
    ratings: pd.DataFrame,
    unit_of: Mapping[tuple[int, str], Unit],
    ranked: Collection[int],
    fits: Mapping[str, SystemEstimates],
    *,
    headline: str,
) -> dict[str, dict[str, Any]]:
    """Compute the evidence by criterion from the `ratings` behind `fits`."""
    return {
        criterion: {
            "agreement": agreement(group, unit),
            "workers": _workers(group, unit, fits[criterion]),
            **_first(group, unit, ranked, headline),
            "wmt": _wmt(group, unit, ranked) if headline == Z_SCORES else [],
        }
        for criterion, unit, group in groups_of(ratings, unit_of)
        if criterion in fits
    }


def agreement(group: pd.DataFrame, unit: Unit) -> dict[str, Any] | None:
    """Compute workers' agreement on the same output; None without shared outputs."""
    # a second rating by the same worker is not independent
    own = group.drop_duplicates(["submission", "instance", "worker"])
    output = own.groupby(["submission", "instance"], sort=True).ngroup().to_numpy()
    shared = np.bincount(output)[output] > 1
    if not shared.any():
        return None
    values = unit.to_averaged(own["value"].to_numpy(float))[shared]
    cells = len(np.unique(output[shared])) * len(np.unique(values))
    if cells > _COUNTED:
        return None
    labels = tally(output[shared], values)
    # discrete answers are ordered, without distances
    level: Level = "ordinal" if unit.steps else "interval"
    n_resamples = _RESAMPLES if cells <= _RESAMPLED else 0
    alpha = krippendorff_alpha(labels, level, n_resamples=n_resamples)
    if not math.isfinite(alpha.estimate):
        return None
    same = None
    if unit.steps and len(labels.values) <= _FEW_ANSWERS:
        same = _short(percentage_agreement(labels, n_resamples=0).estimate)
    return {
        "alpha": _short(alpha.estimate),
        "low": _short(alpha.low),
        "high": _short(alpha.high),
        "level": level,
        "n_outputs": alpha.n_items,
        "same": same,
    }


def _workers(group: pd.DataFrame, unit: Unit, fit: SystemEstimates) -> dict[str, Any]:
    values = unit.to_averaged(group["value"].to_numpy(float))
    found = leniency(
        values, group["submission"].to_numpy(), group["worker"].to_numpy(), fit
    )
    gap, workers = found.typical_gap, group["worker"]
    n = int(workers[~is_unidentified(workers)].nunique())
    stored = {**asdict(found), "typical_gap": _short(gap), "typical_factor": None}
    stored["n_workers"] = n
    if unit.logarithmic:
        # a difference of logarithms is a ratio of magnitudes
        stored |= {"typical_gap": None, "typical_factor": _short(math.exp(gap))}
    return stored


def _first(
    group: pd.DataFrame, unit: Unit, ranked: Collection[int], headline: str
) -> dict[str, Any]:
    values, labels = compared_values(group, unit, headline)
    kept = np.isin(labels[0], list(ranked))
    if kept.sum() * len(np.unique(labels[0][kept])) > _SEARCHED:
        return {"first": None, "first_searched": False}
    found = None
    if kept.any():
        of_kept: list[Any] = [x if x is None else x[kept] for x in labels]
        found = ratings_to_drop(values[kept], *of_kept)
    first = found and {
        "leader": int(found.leader),
        "rival": int(found.rival),
        "n_ratings": found.n_ratings,
        "share": _short(found.share),
    }
    return {"first": first, "first_searched": True}


def _wmt(
    group: pd.DataFrame, unit: Unit, ranked: Collection[int]
) -> list[dict[str, Any]]:
    z, (systems, _, instances, _) = compared_values(group, unit, Z_SCORES)
    kept = np.isin(systems, list(ranked))
    if not kept.any():
        return []
    found = rank_sum_ranking(z[kept], systems[kept], instances[kept])
    return [
        {
            "system": int(name),
            "wins": int(wins),
            "first": ranks.first,
            "last": ranks.last,
        }
        for name, wins, ranks in zip(
            found.systems, found.wins, found.clusters, strict=True
        )
    ]


def _short(value: float) -> float | None:
    return round(value, DIGITS) if math.isfinite(value) else None
