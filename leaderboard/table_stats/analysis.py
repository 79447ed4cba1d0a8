"""Analysis of a table of ratings: estimates, comparisons and ranks of its systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie.lib.interval import Interval
from genie.lib.seeds import seed_from
from leaderboard.stats.intervals import COVERS_INSTANCES, Floats, bootstrap_mean
from leaderboard.stats.mixed import Components
from leaderboard.stats.paired import (
    approximate_randomisation,
    paired_bootstrap,
    wilcoxon,
)
from leaderboard.stats.rater_effects import mean_z_scores, worker_z_scores
from leaderboard.stats.systems.estimates import (
    COVERS_WORKERS,
    FEW_WORKERS,
    Population,
    SystemEstimates,
    estimate_systems,
)
from leaderboard.stats.systems.fragility import Fragility, ratings_to_drop
from leaderboard.stats.systems.ranks import Ranking, rank_sum_ranking, rank_systems
from leaderboard.table_stats.plans import Needed, needed_ratings, paired_means
from leaderboard.table_stats.read import Codes, Labels, Ratings
from quality.agreement.icc import icc_forms, icc_one_way
from quality.agreement.kappa import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    percentage_agreement,
)
from quality.agreement.krippendorff import Level, krippendorff_alpha
from quality.agreement.label_counts import LabelCounts, tally

# Inter-rater agreement by every coefficient that a table's shape allows.

# Limits of items x distinct values. Larger tables are not resampled; much larger ones
# have only ICC1, which then equals alpha on an interval scale to three digits.
_RESAMPLED, _COUNTED = 2e6, 1e7
_FEW_VALUES = 20


def coefficients(
    values: Floats, systems: Codes, workers: Codes, instances: Codes | None
) -> tuple[tuple[str, Agreement], ...]:
    """Return agreement on outputs with at least two raters; empty without such outputs."""
    if instances is None:
        return ()
    output = systems * (int(instances.max()) + 1) + instances
    # several ratings by the same worker count once, as their (lower) median
    order = np.lexsort((values, workers, output))
    opinion = output[order] * (int(workers.max()) + 1) + workers[order]
    _, first, times = np.unique(opinion, return_index=True, return_counts=True)
    kept = order[first + (times - 1) // 2]
    output, workers, values = output[kept], workers[kept], values[kept]
    _, item, counts = np.unique(output, return_inverse=True, return_counts=True)
    several = counts[item] > 1
    if not several.any():
        return ()
    item, workers, values = item[several], workers[several], values[several]
    found: list[tuple[str, Agreement]] = []
    distinct = np.unique(values)
    cells = len(np.unique(item)) * len(distinct)
    if cells <= _COUNTED:
        labels = tally(item, values)
        found += _of_counts(labels, len(distinct), 1_000 if cells <= _RESAMPLED else 0)
    groups = np.split(values[np.argsort(item, kind="stable")], _ends(item))
    forms = () if len(groups) < 2 else (False, True) if cells <= _COUNTED else (False,)
    of_groups = [icc_one_way(groups, average=average) for average in forms]
    found += [(f"ICC, {one.form}", one) for one in of_groups]
    return (*found, *_of_same_workers(values, item, workers))


def _ends(item: Codes) -> npt.NDArray[np.intp]:
    counts = np.bincount(item)
    return np.cumsum(counts[counts > 0])[:-1]


def _of_counts(
    labels: LabelCounts, n_values: int, resamples: int
) -> list[tuple[str, Agreement]]:
    few = n_values <= _FEW_VALUES
    levels: tuple[Level, ...] = ("ordinal", "interval", "nominal")
    found: list[tuple[str, Agreement]] = [
        (
            f"Krippendorff's alpha, {level}",
            krippendorff_alpha(labels, level, n_resamples=resamples),
        )
        for level in levels[: 2 + few]
    ]
    if few:
        found.append(("agreement", percentage_agreement(labels, n_resamples=resamples)))
        if len(np.unique(labels.counts.sum(axis=1))) == 1:
            found.append(("Fleiss' kappa", fleiss_kappa(labels, n_resamples=resamples)))
    return found


def _of_same_workers(
    values: Floats, item: Codes, workers: Codes
) -> list[tuple[str, Agreement]]:
    people, who = np.unique(workers, return_inverse=True)
    items, what = np.unique(item, return_inverse=True)
    if len(values) != len(people) * len(items) or min(len(people), len(items)) < 2:
        return []
    table = np.empty((len(items), len(people)))
    table[what, who] = values
    found: list[tuple[str, Agreement]] = [
        (f"ICC, {form}", one)
        for form, one in icc_forms(table).items()
        if not form.startswith("ICC1")
    ]
    if len(people) == 2:
        kappa = cohen_kappa(table[:, 0], table[:, 1], weights="quadratic")
        found.append(("Cohen's kappa, quadratic", kappa))
    return found


# Tests that papers report, which are valid for this crowd only.

# Limit of pairs x instances x sign swaps, above which the tests would take minutes.
_AFFORDABLE = 1e9
_N_RESAMPLES = 10_000


@dataclass(frozen=True)
class NeighbourTests:
    """Two systems next to each other in the ranking, on the instances of both.

    The p-values are two-sided, of instance means, and not adjusted for the number of pairs.
    """

    a: str
    b: str
    n: int
    difference: float
    p_bootstrap: float
    p_randomisation: float
    p_wilcoxon: float


def neighbour_tests(
    values: Floats,
    systems: Labels,
    instances: Codes | None,
    ranked: Sequence[str],
    *,
    seed: int,
) -> tuple[NeighbourTests, ...]:
    """Test each system against the next; empty if that would take too long."""
    n = 0 if instances is None else len(np.unique(instances))
    if instances is None or float(n) * len(ranked) * _N_RESAMPLES > _AFFORDABLE:
        return ()
    found = []
    for a, b in pairwise(ranked):
        first, second = paired_means(values, systems, instances, a, b)
        if len(first) < 2:
            continue
        by_bootstrap = paired_bootstrap(
            first, second, seed=seed, n_resamples=_N_RESAMPLES
        )
        by_swaps = approximate_randomisation(
            first, second, seed=seed, n_shuffles=_N_RESAMPLES
        )
        found.append(
            NeighbourTests(
                a,
                b,
                len(first),
                by_bootstrap.difference,
                by_bootstrap.p_value,
                by_swaps.p_value,
                wilcoxon(first, second).p_value,
            )
        )
    return tuple(found)


# Limit of ratings x systems, above which decisive ratings and rank sums of all pairs take
# minutes.
_SEARCHED = 2e7
SCALES = ("value", "log", "rank")


@dataclass(frozen=True)
class SystemLine:
    """A system on one criterion; None if the ratings do not determine a value.

    Parameters
    ----------
    estimate : Interval
        Covers different workers and different instances.
    plain : Interval
        Mean over instances and its bootstrap interval: this crowd only.
    z : float
        Mean of ratings standardized per worker, as WMT publishes it.
    effective_workers, largest_share : float
        Number of equally busy workers with the same weight; share of the busiest.
    """

    system: str
    criterion: str
    estimate: Interval
    plain: Interval
    z: float | None
    n: int
    n_workers: int
    effective_workers: float
    largest_share: float
    rank_low: int
    rank_high: int
    cluster: int


@dataclass(frozen=True)
class PairLine:
    """Difference of systems a and b; `p` is adjusted for all pairs, `p_single` is not."""

    a: str
    b: str
    criterion: str
    difference: Interval
    p: float
    p_single: float


@dataclass(frozen=True)
class RankSumLine:
    """A system in WMT's table: mean z, wins by rank-sum tests, ranks of its cluster."""

    system: str
    z: float
    wins: int
    first: int
    last: int


@dataclass(frozen=True)
class Analysis:
    """Results for one criterion.

    Parameters
    ----------
    covers, covers_crowd, method : str
        Sources of variation in the intervals, and the method for variances, in words.
    systems : tuple of SystemLine
        Best first.
    components : tuple of (str, float)
        Variance of systems, workers, instances and of the rest.
    rank_sums : tuple of RankSumLine
        As in WMT's tables, by z: for a sample of instances, but fixed workers.
    notes : tuple of str
        Warnings.
    neighbours : tuple of NeighbourTests
        Tests that papers report, for this crowd only.
    raters : str
        Unit of `n_workers`: "worker", "session", or "comparison" if neither is recorded.
    """

    criterion: str
    scale: str
    n: int
    n_workers: int
    n_instances: int
    covers: str
    covers_crowd: str
    method: str
    systems: tuple[SystemLine, ...]
    pairs: tuple[PairLine, ...]
    components: tuple[tuple[str, float], ...]
    agreement: tuple[tuple[str, Agreement], ...]
    plans: tuple[Needed, ...]
    rank_sums: tuple[RankSumLine, ...]
    fragility: Fragility | None
    notes: tuple[str, ...]
    neighbours: tuple[NeighbourTests, ...] = ()
    raters: str = "worker"
    population: Population = Population.LIKE


def analyse(
    ratings: Ratings,
    *,
    seed: int = 0,
    scale: str = "value",
    population: Population = Population.LIKE,
) -> Analysis:
    """Estimate, compare and rank the systems of one criterion.

    Parameters
    ----------
    seed : int
        Of the bootstrap; the same table and seed give the same bytes.
    scale : {"value", "log", "rank"}
        Ratings as they are; logarithms around their page's (or worker's) mean, for
        magnitudes; or ranks within a worker's page (or instance).

    Raises
    ------
    GenieError
        "not-positive" if a magnitude is not above 0.
    """
    values = rescale(ratings, scale)
    systems, workers = ratings.labels["system"], ratings.labels["worker"]
    instances = ratings.labels.get("instance")
    of_instance = None if instances is None else instances.codes
    days = ratings.labels.get("day")
    on = None if days is None else days.codes
    estimates = estimate_systems(
        values,
        systems.words,
        workers.codes,
        of_instance,
        on,
        population=population,
    )
    ranking = rank_systems(estimates)
    plain = _plain_means(values, systems, of_instance, ratings.criterion, seed)
    z_scores = ratings.z_scores if scale == "value" else None
    if z_scores is None:
        z_scores = worker_z_scores(values, workers.codes)
    standard = mean_z_scores(z_scores, systems.words, of_instance)
    z = dict(zip(standard.systems, standard.means.tolist(), strict=True))
    lines = tuple(
        _system_line(ratings.criterion, name, estimates, ranking, plain[name], z[name])
        for name in ranking.systems
    )
    variances = estimates.variances
    like = population == Population.LIKE
    notes = _notes(estimates, standard.n_left_out)
    rank_sums: tuple[RankSumLine, ...] = ()
    fragility = None
    if len(values) * len(estimates.systems) <= _SEARCHED:
        fragility = ratings_to_drop(
            values, systems.words, workers.codes, of_instance, on
        )
        rank_sums = _rank_sums(z_scores, systems, of_instance)
    else:
        notes += ("There was no search for the ratings that decide first place.",)
    n_workers = len(np.unique(workers.codes))
    components = Components(
        variances.residual,
        variances.instance,
        variances.worker,
        variances.day,
        basis="these ratings",
    )
    return Analysis(
        criterion=ratings.criterion,
        scale=scale,
        n=len(values),
        n_workers=n_workers,
        n_instances=0 if of_instance is None else len(np.unique(of_instance)),
        covers=COVERS_WORKERS if of_instance is None and like else estimates.covers,
        covers_crowd=COVERS_INSTANCES,
        method=variances.method,
        systems=lines,
        pairs=_pair_lines(ratings.criterion, estimates, ranking),
        components=_components(estimates),
        agreement=coefficients(values, systems.codes, workers.codes, of_instance),
        plans=needed_ratings(components, estimates, values, systems, of_instance),
        rank_sums=rank_sums,
        fragility=fragility,
        notes=(*notes, *ratings.notes),
        neighbours=neighbour_tests(
            values, systems, of_instance, ranking.systems, seed=seed
        ),
        population=population,
    )


def logs(values: Floats) -> Floats:
    """Return logarithms of magnitudes; raises "not-positive"."""
    if (values <= 0).any():
        raise GenieError(
            f"Magnitudes must be above 0; one is {values.min():g}.", code="not-positive"
        )
    return np.asarray(np.log(values), dtype=np.float64)


def rescale(ratings: Ratings, scale: str) -> Floats:
    import pandas as pd

    values = ratings.values
    if scale == "value":
        return values
    labels = ratings.labels
    worker, pages = labels["worker"].codes, None
    if "page" in labels:
        of_page = pd.DataFrame({"worker": worker, "page": labels["page"].codes})
        # a page with one output compares nothing
        pages = labels["page"].codes if of_page.duplicated().any() else None
    if scale == "log":
        page = np.zeros_like(worker) if pages is None else pages
        found = pd.Series(logs(values))
        return np.asarray(found - found.groupby([worker, page]).transform("mean"))
    page = labels.get("instance", labels["worker"]).codes if pages is None else pages
    ranks = pd.Series(values).groupby([worker, page]).rank()
    return np.asarray(ranks, dtype=np.float64)


def _system_line(
    criterion: str,
    name: str,
    estimates: SystemEstimates,
    ranking: Ranking,
    plain: Interval,
    z: float,
) -> SystemLine:
    i = estimates.systems.index(name)
    ranks = ranking.rank_of(name)
    return SystemLine(
        system=name,
        criterion=criterion,
        estimate=estimates.interval(name),
        plain=plain,
        z=None if np.isnan(z) else z,
        n=int(estimates.n[i]),
        n_workers=int(estimates.n_workers[i]),
        effective_workers=float(estimates.effective_workers[i]),
        largest_share=float(estimates.largest_share[i]),
        rank_low=ranks.first,
        rank_high=ranks.last,
        cluster=ranking.cluster_of(name),
    )


def _pair_lines(
    criterion: str, estimates: SystemEstimates, ranking: Ranking
) -> tuple[PairLine, ...]:
    return tuple(
        PairLine(a, b, criterion, found, float(ranking.p_values[i, j]), found.p_value)
        for (i, a), (j, b) in combinations(enumerate(ranking.systems), 2)
        for found in [estimates.difference(a, b)]
    )


def _plain_means(
    values: Floats, systems: Labels, instances: Codes | None, criterion: str, seed: int
) -> dict[str, Interval]:
    """Average each instance's ratings first, as papers do, and resample instances."""
    found: dict[str, Interval] = {}
    order = np.argsort(systems.codes, kind="stable")
    ends = np.searchsorted(systems.codes[order], np.arange(len(systems.names) + 1))
    for code, name in enumerate(systems.names):
        rows = order[ends[code] : ends[code + 1]]
        if not len(rows):
            continue
        own = values[rows]
        if instances is not None:
            _, inverse = np.unique(instances[rows], return_inverse=True)
            own = np.bincount(inverse, own) / np.bincount(inverse)

        found[name] = bootstrap_mean(
            own, seed=seed_from("stats", seed, criterion, name), n_resamples=10_000
        )
    return found


def _rank_sums(
    z_scores: Floats, systems: Labels, instances: Codes | None
) -> tuple[RankSumLine, ...]:
    """Rank as WMT does; empty without instances."""
    known = ~np.isnan(z_scores)
    if instances is None or not known.any():
        return ()
    found = rank_sum_ranking(z_scores[known], systems.words[known], instances[known])
    return tuple(
        RankSumLine(name, float(z), int(wins), cluster.first, cluster.last)
        for name, z, wins, cluster in zip(
            found.systems, found.means, found.wins, found.clusters, strict=True
        )
    )


def _components(estimates: SystemEstimates) -> tuple[tuple[str, float], ...]:
    means, variances = estimates.means, estimates.variances
    between = float(means.var(ddof=1)) if len(means) > 1 else 0.0
    return (
        ("system", between),
        ("worker", variances.worker),
        ("instance", variances.instance),
        *((("day", variances.day),) if estimates.day_freedom else ()),
        ("residual", variances.residual),
    )


def _notes(estimates: SystemEstimates, n_left_out: int) -> tuple[str, ...]:
    fewest = float(estimates.effective_workers.min())
    largest = float(estimates.largest_share.max())
    like = estimates.population == Population.LIKE
    notes = {
        f"Few workers: some system has only {fewest:.1f} effective workers, so "
        f"{'its interval is rough' if like else 'different workers might disagree'}.": (
            fewest < FEW_WORKERS
        ),
        f"One worker has {100 * largest:.0f}% of a system's weight.": largest
        > max(0.1, 2 / estimates.n_workers.max()),
        "A system with only one rater has no interval.": like
        and (estimates.n_workers < 2).any(),
        "There is only one system, so there is no comparison.": len(estimates.systems)
        < 2,
        f"{n_left_out} ratings have no z-score because their workers gave only one "
        "rating or always the same.": n_left_out > 0,
    }
    return tuple(note for note, holds in notes.items() if holds)
