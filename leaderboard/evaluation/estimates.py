"""Adjusted scores, z-scores and ranks of all systems of a board, estimated together.

Pure: the same ratings give the same numbers here and when a release is rebuilt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leaderboard.designs.base import Unit
from leaderboard.evaluation.result_columns import fit_columns
from leaderboard.stats.clustered import clustered_mean, factor_codes, multiway_variance
from leaderboard.stats.intervals import CoveredInterval, Floats
from leaderboard.stats.judges.together import Forecast, helped_systems
from leaderboard.stats.ranking import RANK_RULE, RANK_SUM_RULE
from leaderboard.stats.rater_effects import standardised_means, worker_z_scores
from leaderboard.stats.systems.campaigns import crowd_groups
from leaderboard.stats.systems.estimates import (
    COVERS_DAYS,
    COVERS_THESE,
    FEW_WORKERS,
    Population,
    SystemEstimates,
    estimate_systems,
)
from leaderboard.stats.systems.ranks import (
    Ranking,
    RankSumRanking,
    comparison_reach,
    rank_sum_ranking,
    rank_systems,
)
from leaderboard.stats.systems.table import Variances, rating_table
from leaderboard.tasks.config import ADJUSTED, PLAIN, RANK_SUMS, SIMULTANEOUS, Z_SCORES

if TYPE_CHECKING:
    import pandas as pd


# Published digits: far more than readers need, and fewer than the last bits, in which
# machines differ.
DIGITS = 9
# The covariances of a fit, as signatures name them: with cells of a worker and an instance.
# Earlier signatures do not name any.
FIT = "cells"
_VECTORS = ("means", "n", "n_workers", "effective_workers", "largest_share")
# symmetric: the upper half suffices
_MATRICES = ("worker_part", "instance_part", "floor", "worker_freedom")


def as_json(fit: SystemEstimates) -> dict[str, Any]:
    """Return a fit rounded to nine digits; unknown numbers are None."""
    upper = np.triu_indices(len(fit.systems))
    stored: dict[str, Any] = {name: getattr(fit, name) for name in _VECTORS}
    stored |= {name: getattr(fit, name)[upper] for name in _MATRICES}
    variances: dict[str, float | str] = asdict(fit.variances)
    days: dict[str, Any] = {}
    if fit.day_freedom:
        stored["day_part"] = fit.day_part[upper]
        days = {"day_freedom": short(fit.day_freedom)}
    else:
        # fits without days have the format from before days were modeled
        del variances["day"]
    if not fit.variances.taste:
        del variances["taste"]
    if fit.population != Population.LIKE:
        days["population"] = fit.population.value
    return {
        "systems": fit.systems,
        "n_instances": fit.n_instances,
        "variances": variances,
        **days,
        **{name: [short(x) for x in array.tolist()] for name, array in stored.items()},
    }


def from_json(stored: Mapping[str, Any]) -> SystemEstimates:
    n = len(stored["systems"])
    arrays = {name: np.array(stored[name], dtype=np.float64) for name in _VECTORS}
    for name in (*_MATRICES, "day_part"):
        matrix = np.zeros((n, n))
        if name in stored:
            matrix[np.triu_indices(n)] = np.array(stored[name], dtype=np.float64)
        arrays[name] = matrix + np.triu(matrix, 1).T
    return SystemEstimates(
        systems=list(stored["systems"]),
        n_instances=int(stored["n_instances"]),
        variances=Variances(**stored["variances"]),
        day_freedom=stored.get("day_freedom", 0.0),
        population=Population(stored.get("population", Population.LIKE)),
        means=arrays.pop("means"),
        n=arrays.pop("n").astype(np.int64),
        n_workers=arrays.pop("n_workers").astype(np.int64),
        **arrays,
    )


def short(value: float) -> float | None:
    """Round to the published digits; unknown numbers become None."""
    return None if math.isnan(value) else float(f"{value:.{DIGITS}g}")


# The values behind a board's ranks: the only module that applies a task's rule.
#
# Pure: fits are computed and stored with it, releases are rebuilt with it, and all pages,
# files and programs that show ranks or compare systems read them from it.
RULES = {SIMULTANEOUS: RANK_RULE, RANK_SUMS: RANK_SUM_RULE}
# The test of a pair's significance, in few words.
TESTED = {
    SIMULTANEOUS: "after Holm’s correction for all pairs of the ranked systems",
    RANK_SUMS: "by unpaired one-sided rank-sum tests, not corrected for the number of pairs",
}


@dataclass(frozen=True)
class Compared:
    """Systems compared on the values that rank them.

    Differences in `fit` hold for other workers and instances. `rank_sums` are WMT's
    tests if the task ranks by these. `judged` is whether licensed judges help. `groups`
    are those of `crowd_groups`, if computed.
    """

    fit: SystemEstimates
    rank_sums: RankSumRanking | None = None
    judged: bool = False
    groups: Mapping[str, int] | None = None

    def ranking(self, systems: Collection[str]) -> Ranking:
        if self.rank_sums is not None:
            return self.rank_sums.keep_systems(systems).ranking()
        return rank_systems(self.fit, [n for n in systems if n in self.fit.systems])

    def divide(self, groups: Mapping[str, int]) -> Compared:
        return Compared(
            self.fit.divide(groups),
            self.rank_sums and self.rank_sums.divide(groups),
            self.judged,
            groups,
        )


def compare(
    values: Floats,
    *labels: Any,
    rule: str,
    fit: SystemEstimates | None = None,
    **options: Any,
) -> Compared:
    """Compare systems on the values that rank them; `fit` is their fit if computed."""
    found = fit or estimate_systems(values, *labels, **options)
    if rule != RANK_SUMS:
        return Compared(found)
    return Compared(found, rank_sum_ranking(values, labels[0], labels[2]))


def comparison_ends(
    compared: Compared, unit: Unit | None, ranked: Collection[int]
) -> dict[str, tuple[float, float]]:
    """Return comparison intervals by system; without a unit in that of the fit."""
    fit = compared.fit
    ranking = compared.ranking({str(pk) for pk in ranked})
    ends = {}
    for name, half in comparison_reach(fit, ranking).items():
        mean = float(fit.means[fit.systems.index(name)])
        found = CoveredInterval(mean, mean - half, mean + half, "")
        found = unit.to_score(found) if unit else found
        ends[name] = round(found.low, DIGITS), round(found.high, DIGITS)
    return ends


def serialize_ranking(compared: Compared, shown: SystemEstimates) -> dict[str, Any]:
    """Serialize the comparison, without parts that equal the `shown` fit."""
    parts: dict[str, Any] = {}
    if compared.fit is not shown:
        parts["compared"] = as_json(compared.fit)
    if compared.judged:
        parts["judged"] = True
    found = compared.rank_sums
    if found is not None:
        parts["rank_sums"] = {
            "systems": found.systems,
            "means": [short(mean) for mean in found.means.tolist()],
            "n_segments": found.n_segments.tolist(),
            "p_values": [[short(p) for p in row] for row in found.p_values.tolist()],
        }
    return parts


def read(criterion: Mapping[str, Any]) -> Compared:
    fit = from_json(criterion.get("compared", criterion))
    found = criterion.get("rank_sums")
    if found is not None:
        found = RankSumRanking(
            list(found["systems"]),
            np.array(found["means"], dtype=np.float64),
            np.array(found["n_segments"], dtype=np.int64),
            np.array(found["p_values"], dtype=np.float64),
        )
    return Compared(fit, found, criterion.get("judged", False))


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
    def combine(cls, wide: CoveredInterval, narrow: CoveredInterval) -> Estimate:
        """Combine a 95% interval and a 50% interval."""
        return cls(
            wide.estimate, wide.low, wide.high, narrow.low, narrow.high, wide.covers
        ).transform(float)

    def transform(self, change: Callable[[float], float]) -> Estimate:
        """Transform all numbers and round them to the published digits."""
        numbers = (self.mean, self.low, self.high, self.low_50, self.high_50)
        mean, low, high, low_50, high_50 = (round(change(n), DIGITS) for n in numbers)
        return Estimate(mean, low, high, low_50, high_50, self.covers)


#: Prefix of unidentified raters, of whom only the rated instance is known; their
#: numbers are below 0.
UNNAMED = "nobody-"
COVERS_UNKNOWN = "which instances were drawn, but not raters, who are unknown"


def is_unidentified(workers: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Check which labels are placeholders for unidentified raters.

    Examples
    --------
    >>> is_unidentified([4, -4]).tolist(), is_unidentified(["r-1", "nobody-2"]).tolist()
    ([False, True], [False, True])
    """
    labels = np.asarray(workers).tolist()
    return np.array(
        [x.startswith(UNNAMED) if isinstance(x, str) else x < 0 for x in labels], bool
    )


def crowds_of(campaigns: npt.ArrayLike, workers: npt.ArrayLike) -> npt.NDArray[Any]:
    # all unidentified raters are taken as one crowd, -1
    return np.where(is_unidentified(workers), -1, campaigns)


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
    # comparison intervals by criterion and system
    bars: dict[str, dict[str, tuple[float, float]]]


def estimate_board(
    ratings: pd.DataFrame,
    unit_of: Mapping[tuple[int, str], Unit],
    ranked: Collection[int],
    *,
    headline: str = ADJUSTED,
    rule: str = SIMULTANEOUS,
    seed: int = 0,
    forecasts: Mapping[str, Mapping[str, Forecast]] | None = None,
    population: Population = Population.LIKE,
    by_cell: bool = True,
    anchors: pd.DataFrame | None = None,
) -> BoardEstimates:
    """Estimate all systems of a board together, criterion by criterion.

    `ratings` has the columns submission, criterion, instance, worker and value; `on` if
    the days of ratings are known; `weight` if workers have unequal weights in adjusted
    estimates. Systems whose ratings have a different unit than the first one's are left
    out.

    `forecasts` of licensed judges, by criterion and system, support the ranking.
    `anchors` are ratings in campaigns about different systems; both tables then have the
    column `campaign`.
    """
    standings: dict[tuple[int, str], Standing] = {}
    fits: dict[str, SystemEstimates] = {}
    compared: dict[str, Compared] = {}
    bars = {}
    options: dict[str, Any] = {"population": population, "by_cell": by_cell}
    for criterion, unit, group in groups_of(ratings, unit_of):
        values, labels = compared_values(group, unit, PLAIN)
        linking = anchors if population == Population.LIKE else None
        rated = _with_anchors(group, criterion, linking)
        own, (systems, workers, instances, days) = compared_values(rated, unit, PLAIN)
        crowds = crowds_of(rated.get("campaign", systems), workers)
        # judges help to estimate what other raters would say
        foretold = (forecasts or {}) if population == Population.LIKE else {}
        helped = _compare_with_judges(group, unit, foretold.get(criterion, {}))
        fit = fits[criterion] = estimate_systems(
            *(own, systems, workers, instances, days),
            weights=weights_in(rated),
            campaigns=crowds,
            **options,
        )
        z_scores: dict[int, Estimate] = {}
        if headline == Z_SCORES:
            z_scores = _z_scores(values, labels, seed=seed, population=population)
            values, labels = compared_values(group, unit, headline)
        shown = None if headline == Z_SCORES else fit
        among = helped or compare(values, *labels, rule=rule, fit=shown, **options)
        among = compared[criterion] = among.divide(
            crowd_groups(systems, workers, crowds)
        )
        scores = None if headline == Z_SCORES else unit
        bars[criterion] = comparison_ends(among, scores, ranked)
        unknown = set(systems[crowds == -1].tolist())
        standings |= {
            (pk, criterion): _without_workers(one) if pk in unknown else one
            for pk, one in _standings(fit, unit, z_scores, among, ranked).items()
        }
    return BoardEstimates(standings, fits, compared, bars)


def _with_anchors(
    group: pd.DataFrame, criterion: str, anchors: pd.DataFrame | None
) -> pd.DataFrame:
    import pandas as pd

    if anchors is None:
        return group
    own = anchors[
        (anchors["criterion"] == criterion)
        & anchors["submission"].isin(group["submission"])
        & anchors["campaign"].isin(group["submission"])
    ]
    # a campaign has the number of the system that it is about
    rated = group.assign(campaign=group["submission"])
    return pd.concat([rated, own], ignore_index=True)


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
    values = unit.to_averaged(ratings["value"].to_numpy(float))
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


def _compare_with_judges(
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
        units = [unit_of[key] for key in sorted(unit_of) if key[1] == criterion]
        # the most common; of two equally common ones the newest system's
        unit = max(reversed(units), key=units.count, default=None)
        alike = [pk for (pk, c), u in unit_of.items() if c == criterion and u == unit]
        group = group[group["submission"].isin(alike)]
        if unit is not None and not group.empty:
            yield criterion, unit, group


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
        estimates = _adjusted_estimate(fit, name, unit)
        if pk in z_scores:
            estimates[Z_SCORES] = z_scores[pk]
        columns = {key: round(n, DIGITS) for key, n in fit_columns(fit, i).items()}
        standings[pk] = Standing(estimates, *_place(ranking, name), columns)
    return standings


def compared_values(
    ratings: pd.DataFrame, unit: Unit, headline: str
) -> tuple[Floats, list[Any]]:
    """Return the values that ranks are made from, and the labels of `labels_of`."""
    values = unit.to_averaged(ratings["value"].to_numpy(float))
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


def _adjusted_estimate(
    fit: SystemEstimates, name: str, unit: Unit
) -> dict[str, Estimate]:
    place = fit.systems.index(name)
    one_worker = np.isnan(fit.freedom[place, place])
    # identical ratings do not show their spread; the plain interval allows for
    # unobserved values
    if one_worker or fit.variance[place, place] <= _NO_SPREAD:
        return {}
    # rounded like scores: numbers rounded earlier would differ more afterwards
    wide, narrow = (
        unit.to_score(fit.interval(name, confidence=confidence))
        for confidence in (0.95, 0.5)
    )
    low, high = unit.bounds
    if unit.logarithmic:
        low, high = 100 * math.exp(low), 100 * math.exp(high)
    # no score is beyond the ends of its scale
    estimate = Estimate.combine(wide, narrow)
    return {ADJUSTED: estimate.transform(lambda value: min(max(value, low), high))}


def _z_scores(
    values: Any, labels: Sequence[Any], *, seed: int, population: Population
) -> dict[int, Estimate]:
    """Average z-scores as WMT does; for these raters intervals are over instances."""
    (systems, workers, instances, days), like = labels, population == Population.LIKE
    dated = like and days is not None
    counts = dated and rating_table(values, systems, workers, None, days)
    means = standardised_means(values, systems, workers, instances)
    z = worker_z_scores(values, workers)
    found = {}
    for name, mean in zip(means.systems, means.means.tolist(), strict=True):
        own = (systems.astype(str) == name) & ~np.isnan(z)
        if np.isnan(mean) or (like and len(np.unique(workers[own])) < 2):
            continue
        factors = {"worker": workers[own]} if like else {}
        factors["instance"] = instances[own]
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
        found[int(name)] = Estimate.combine(wide, narrow).transform(shift.__add__)
    if not like:
        return {pk: replace(one, covers=COVERS_THESE) for pk, one in found.items()}
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
    return Estimate(mean, *ends, COVERS_DAYS).transform(float)


def headline_of(estimates: Mapping[str, Any], wanted: str) -> str:
    """Return the name of the score: the wanted estimate, or the plain mean without it."""
    return wanted if wanted in estimates else PLAIN


# Words for estimates: names, methods and warnings.
NAMES = {
    ADJUSTED: "Adjusted for raters",
    PLAIN: "This crowd’s plain mean",
    Z_SCORES: "Mean of z-scores per rater",
}
SCORE_IS = {
    ADJUSTED: (
        "The score is a mean adjusted for raters. All systems are estimated together, "
        "so that lenient raters favor none."
    ),
    PLAIN: "The score is the plain mean over the instances, as this crowd rated them.",
    Z_SCORES: (
        "The score is the mean of ratings in standard deviations from each rater’s "
        "mean, as WMT publishes it."
    ),
}
# If results are about these raters.
_DISAGREE = "Different raters might disagree."
# A rater with more of the weight than this has a large influence.
_MUCH = 0.25


def warning_of_few(
    n_workers: int, effective: float | None, largest: float | None, population: str
) -> str:
    """Return a warning that different raters might disagree; usually empty."""
    if not n_workers:
        return (
            "Raters unknown: the files do not identify who rated this system, so its "
            "interval and rank cover instances only, not raters."
        )
    if population == Population.THESE:
        return f"Few raters: {n_workers}. {_DISAGREE}" * (n_workers < FEW_WORKERS)
    if n_workers < 2:
        return (
            "This system has only one rater, and a different rater might disagree. So it "
            "shares its rank with every other system."
        )
    if effective is not None and effective < FEW_WORKERS:
        return f"Only {n_workers:,} raters (effectively {effective:.1f}). {_DISAGREE}"
    if largest is not None and largest > _MUCH:
        return f"One rater has {100 * largest:.0f}% of the weight of this score."
    return ""
