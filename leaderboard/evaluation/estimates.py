"""Adjusted scores, z-scores and ranks of all systems of a board, estimated together.

Pure: the same ratings give the same numbers here and when a release is rebuilt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leaderboard.designs.unit import Unit
from leaderboard.evaluation.ranking import Compared, compare
from leaderboard.evaluation.result_columns import fit_columns
from leaderboard.evaluation.stored_fit import DIGITS
from leaderboard.stats.clustered import (
    clustered_mean,
    factor_codes,
    multiway_variance,
)
from leaderboard.stats.intervals import CoveredInterval
from leaderboard.stats.judges.together import Forecast, helped_systems
from leaderboard.stats.rater_effects import standardised_means, worker_z_scores
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.estimates import (
    COVERS_DAYS,
    SystemEstimates,
    estimate_systems,
)
from leaderboard.stats.systems.ranks import Ranking
from leaderboard.stats.systems.table import rating_table
from leaderboard.tasks.config import ADJUSTED, PLAIN, SIMULTANEOUS, Z_SCORES

if TYPE_CHECKING:
    import pandas as pd

_Z_RESAMPLES = 2_000
_NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Estimate:
    """An estimate of a system's quality in the unit of scores."""

    mean: float
    low: float
    high: float
    low_50: float
    high_50: float
    covers: str

    @classmethod
    def of(cls, wide: CoveredInterval, narrow: CoveredInterval) -> Estimate:
        """Combine a 95% interval and a 50% interval."""
        return cls(
            wide.estimate, wide.low, wide.high, narrow.low, narrow.high, wide.covers
        ).mapped(float)

    def mapped(self, change: Callable[[float], float]) -> Estimate:
        """Transform all numbers and round them to the published digits."""
        numbers = (self.mean, self.low, self.high, self.low_50, self.high_50)
        mean, low, high, low_50, high_50 = (round(change(n), DIGITS) for n in numbers)
        return Estimate(mean, low, high, low_50, high_50, self.covers)


#: Prefix of unidentified raters, of whom only the rated instance is known; their
#: numbers are below 0.
NOBODY = "nobody-"
COVERS_UNKNOWN = "which instances were drawn; workers unknown, and left out"


def nobody(workers: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Check which labels are placeholders for unidentified workers.

    Examples
    --------
    >>> nobody([4, -4]).tolist(), nobody(["r-1", "nobody-2"]).tolist()
    ([False, True], [False, True])
    """
    labels = np.asarray(workers).tolist()
    return np.array(
        [one.startswith(NOBODY) if isinstance(one, str) else one < 0 for one in labels],
        bool,
    )


@dataclass(frozen=True)
class Standing:
    estimates: dict[str, Estimate]
    ranks: tuple[int, int] | None
    cluster: int | None
    # see `fit_columns`; null if the raters are not identified
    columns: dict[str, float | None]


@dataclass(frozen=True)
class BoardEstimates:
    """Standings by system and criterion, fits and rank input by criterion."""

    standings: dict[tuple[int, str], Standing]
    fits: dict[str, SystemEstimates]
    compared: dict[str, Compared]


def estimate_board(
    ratings: pd.DataFrame,
    unit_of: Mapping[tuple[int, str], Unit],
    ranked: Collection[int],
    *,
    headline: str = ADJUSTED,
    rule: str = SIMULTANEOUS,
    seed: int = 0,
    forecasts: Mapping[str, Mapping[str, Forecast]] | None = None,
) -> BoardEstimates:
    """Estimate all systems of a board together, criterion by criterion.

    `ratings` has the columns submission, criterion, instance, worker and value; `on` if
    the days of ratings are known; `weight` if workers have unequal weights in adjusted
    estimates. Systems whose ratings have a different unit than the first one's are left
    out.

    `forecasts` of licensed judges, by criterion and system, support the ranking.
    """
    standings: dict[tuple[int, str], Standing] = {}
    fits: dict[str, SystemEstimates] = {}
    compared: dict[str, Compared] = {}
    for criterion, unit, group in groups_of(ratings, unit_of):
        values, labels = compared_values(group, unit, PLAIN)
        helped = _helped(group, unit, (forecasts or {}).get(criterion, {}))
        weights = weights_in(group)
        fit = fits[criterion] = estimate_systems(values, *labels, weights=weights)
        z_scores: dict[int, Estimate] = {}
        if headline == Z_SCORES:
            z_scores = _z_scores(values, *labels, seed=seed)
            values, labels = compared_values(group, unit, headline)
        shown = None if headline == Z_SCORES else fit
        among = helped or compare(values, *labels, rule=rule, fit=shown)
        compared[criterion] = among
        unknown = set(group["submission"][nobody(group["worker"])].unique())
        standings |= {
            (pk, criterion): _without_workers(one) if pk in unknown else one
            for pk, one in _standings(fit, unit, z_scores, among, ranked).items()
        }
    return BoardEstimates(standings, fits, compared)


def _without_workers(standing: Standing) -> Standing:
    estimates = {
        name: replace(one, covers=COVERS_UNKNOWN)
        for name, one in standing.estimates.items()
    }
    return replace(standing, estimates=estimates, columns=fit_columns(None))


def plain_intervals(
    unit: Unit, ratings: pd.DataFrame, *, seed: int, n_resamples: int
) -> dict[float, CoveredInterval]:
    """Compute 95% and 50% intervals from columns instance, worker and value."""
    values = unit.averaged(ratings["value"].to_numpy(float))
    # Ratings of one output are correlated. Instances are resampled, not ratings: more
    # ratings of one output are no evidence about other outputs.
    averaged = ratings.assign(value=values).groupby("instance", sort=True)["value"]
    means = averaged.mean().to_numpy()
    return {
        confidence: unit.interval(
            means, seed=seed, n_resamples=n_resamples, confidence=confidence
        )
        for confidence in (0.95, 0.5)
    }


def _helped(
    group: pd.DataFrame, unit: Unit, forecasts: Mapping[str, Forecast]
) -> Compared | None:
    values, (systems, workers, instances, _) = compared_values(group, unit, PLAIN)
    named = {str(name) for name in systems}
    if named.isdisjoint(forecasts):
        return None
    try:
        fit = helped_systems(
            values, systems, workers, instances, forecasts, weights=weights_in(group)
        )
    except ValueError:
        return None
    return Compared(fit, judged=True)


def groups_of(
    ratings: pd.DataFrame, unit_of: Mapping[tuple[int, str], Unit]
) -> Iterator[tuple[str, Unit, pd.DataFrame]]:
    for name, group in ratings.groupby("criterion", sort=True):
        criterion = str(name)
        unit = _usual_unit(criterion, unit_of)
        alike = [pk for (pk, c), u in unit_of.items() if c == criterion and u == unit]
        group = group[group["submission"].isin(alike)]
        if unit is not None and not group.empty:
            yield criterion, unit, group


def _usual_unit(criterion: str, unit_of: Mapping[tuple[int, str], Unit]) -> Unit | None:
    """Return the most common unit; of two equally common ones the newest system's."""
    units = [unit for (_, c), unit in sorted_by_system(unit_of) if c == criterion]
    return max(reversed(units), key=units.count, default=None)


def sorted_by_system(
    unit_of: Mapping[tuple[int, str], Unit],
) -> list[tuple[tuple[int, str], Unit]]:
    return sorted(unit_of.items(), key=lambda entry: entry[0])


def _standings(
    fit: SystemEstimates,
    unit: Unit,
    z_scores: Mapping[int, Estimate],
    compared: Compared,
    ranked: Collection[int],
) -> dict[int, Standing]:
    ranking = compared.ranking({str(pk) for pk in ranked})
    standings = {}
    for i, name in enumerate(fit.systems):
        pk = int(name)
        estimates = _adjusted(fit, name, unit)
        if pk in z_scores:
            estimates[Z_SCORES] = z_scores[pk]
        columns = {key: round(n, DIGITS) for key, n in fit_columns(fit, i).items()}
        standings[pk] = Standing(estimates, *_place(ranking, name), columns)
    return standings


def compared_values(
    ratings: pd.DataFrame, unit: Unit, headline: str
) -> tuple[Floats, list[Any]]:
    """Return the values that ranks are made from, and the labels of `labels_of`."""
    values = unit.averaged(ratings["value"].to_numpy(float))
    labels = labels_of(ratings)
    if headline != Z_SCORES:
        return values, labels
    z = worker_z_scores(values, labels[1])
    known = ~np.isnan(z)
    if not known.any():
        return values, labels
    return z[known], labels_of(ratings[known])


def labels_of(ratings: pd.DataFrame) -> list[Any]:
    """Return each rating's system, worker, instance and, if known, day."""
    names = ("submission", "worker", "instance", "on")
    return [ratings[name].to_numpy() if name in ratings else None for name in names]


def weights_in(ratings: pd.DataFrame) -> Floats | None:
    """Return the weights of ratings; None if all are 1."""
    if "weight" not in ratings or (ratings["weight"] == 1).all():
        return None
    return ratings["weight"].to_numpy(float)


def _place(ranking: Ranking, name: str) -> tuple[tuple[int, int] | None, int | None]:
    if name not in ranking.systems:
        return None, None
    ranks = ranking.rank_of(name)
    return (ranks.first, ranks.last), ranking.cluster_of(name)


def _adjusted(fit: SystemEstimates, name: str, unit: Unit) -> dict[str, Estimate]:
    place = fit.systems.index(name)
    one_worker = np.isnan(fit.freedom[place, place])
    # identical ratings do not show their spread; the plain interval allows for
    # unobserved values
    if one_worker or fit.variance[place, place] <= _NO_SPREAD:
        return {}
    # rounded like scores: numbers rounded earlier would differ more afterwards
    wide, narrow = (
        unit.shown(fit.interval(name, confidence=confidence))
        for confidence in (0.95, 0.5)
    )
    low, high = unit.bounds
    if unit.logarithmic:
        low, high = 100 * math.exp(low), 100 * math.exp(high)
    # no score is beyond the ends of its scale
    estimate = Estimate.of(wide, narrow)
    return {ADJUSTED: estimate.mapped(lambda value: min(max(value, low), high))}


def _z_scores(
    values: Any, systems: Any, workers: Any, instances: Any, days: Any, *, seed: int
) -> dict[int, Estimate]:
    """Average z-scores as WMT does, with an interval over workers, instances and days."""
    counts = days is not None and rating_table(values, systems, workers, None, days)
    means = standardised_means(values, systems, workers, instances)
    z = worker_z_scores(values, workers)
    found = {}
    for name, mean in zip(means.systems, means.means.tolist(), strict=True):
        own = (systems.astype(str) == name) & ~np.isnan(z)
        if np.isnan(mean) or len(np.unique(workers[own])) < 2:
            continue
        factors = {"worker": workers[own], "instance": instances[own]}
        if counts and counts.n_days:
            found[int(name)] = _over_days(z[own], {**factors, "day": days[own]}, mean)
            continue
        wide, narrow = (
            clustered_mean(
                z[own],
                factors,
                seed=seed,
                n_resamples=_Z_RESAMPLES,
                confidence=confidence,
            )
            for confidence in (0.95, 0.5)
        )
        # outputs with several ratings count once in the mean
        shift = mean - wide.estimate
        found[int(name)] = Estimate.of(wide, narrow).mapped(shift.__add__)
    return found


def _over_days(z: Floats, factors: Mapping[str, Any], mean: float) -> Estimate:
    """Return Student's interval over workers, instances and days.

    It does not resample: with few days, draws would depend on the order of labels.
    """
    from scipy import special

    crossed = [pair for pair in factor_codes(factors, len(z)).values() if pair[1] > 1]
    variance, freedom = multiway_variance(z - z.mean(), crossed)
    wide, narrow = (
        float(special.stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(variance)
        for confidence in (0.95, 0.5)
    )
    ends = (mean - wide, mean + wide, mean - narrow, mean + narrow)
    return Estimate(mean, *ends, COVERS_DAYS).mapped(float)


def headline_of(estimates: Mapping[str, Any], wanted: str) -> str:
    """Return the name of the score: the wanted estimate, or the plain mean without it."""
    return wanted if wanted in estimates else PLAIN
