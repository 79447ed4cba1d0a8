"""The numbers of one criterion of a joint evaluation, from its ratings alone.

Nothing here reads the database: a release is recomputed by the same functions. Results
do not depend on workers' labels, so pseudonyms give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from leaderboard.designs.base import Unit
from leaderboard.evaluation.estimates import weights_in
from leaderboard.evaluation.result_columns import compute_columns
from leaderboard.stats.bradley_terry import bradley_terry_by_worker
from leaderboard.stats.comparisons import Comparisons, comparisons_from_table
from leaderboard.stats.intervals import CoveredInterval, Floats
from leaderboard.stats.magnitude import normalise_magnitudes
from leaderboard.stats.multiplicity import significance_clusters
from leaderboard.stats.systems.estimates import (
    Population,
    SystemEstimates,
    estimate_systems,
)
from leaderboard.stats.systems.ranks import rank_systems
from leaderboard.stats.true_skill import N_ORDERS, N_RESAMPLES, true_skill
from quality.agreement.icc import icc_one_way

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.95
DRAW_PROBABILITY = 0.1
ORDERS, SKILL_RESAMPLES = N_ORDERS, N_RESAMPLES
# Why comparisons may not determine strengths, in words.
NO_STRENGTHS = {
    "not-connected": "some system won, or lost, every comparison with the others",
    "only-ties": "all comparisons were ties",
    "one-worker": "only one worker compared the systems",
}


def numbers_of(
    ratings: pd.DataFrame,
    systems: Sequence[int],
    *,
    unit: Unit,
    seed: int,
    n_resamples: int,
    population: Population = Population.LIKE,
    by_cell: bool = True,
) -> dict[str, Any]:
    """Compute magnitudes, ranking, preferences and agreement.

    Parameters
    ----------
    ratings : DataFrame
        Counting ratings: instance (its position), worker, submission, value; `on` if the
        days of ratings are known; `weight` if workers have unequal weights (in magnitudes
        and their ranks). A judgment need not include all systems.
    systems : sequence of int
        The submissions, in the order of the result's rows.

    Returns
    -------
    dict
        As stored and shown; `n_judgements` is 0 without systems if some system has no
        counting rating. Intervals, ranks and clusters cover other instances, and other
        workers unless the population is these raters.
    """
    # a row per judgment and a column per system
    wide = ratings.pivot_table(
        index=["instance", "worker"], columns="submission", values="value"
    )
    wide = wide.reindex(columns=list(systems)).dropna(how="all")
    if wide.empty or wide.isna().all(axis=0).any():
        return {"n_judgements": 0, "systems": []}
    raw = wide.to_numpy(dtype=np.float64)
    instances, workers = (
        wide.index.get_level_values(level).to_numpy()
        for level in ("instance", "worker")
    )
    averaged = _average_levels(raw, workers, unit)
    row, column = np.nonzero(~np.isnan(raw))
    days = _of_judgements(ratings, wide, "on")
    weights = None
    if weights_in(ratings) is not None:
        weights = _of_judgements(ratings, wide, "weight")
    estimates = estimate_systems(
        averaged[row, column],
        column,
        workers[row],
        instances[row],
        None if days is None else days[row],
        weights=None if weights is None else weights[row],
        population=population,
        by_cell=by_cell,
    )
    alone = _alone(averaged, instances, unit, seed, n_resamples)
    ranking = _ranking(estimates, systems, unit, alone)
    games = comparisons_from_table(raw)
    clusters = workers if population == Population.LIKE else instances
    preferences = _preferences(games, clusters[games.row], seed)
    by_system = ratings.groupby("submission")
    for system, preferred in zip(
        ranking["systems"], preferences.pop("systems"), strict=True
    ):
        own = by_system.get_group(system["submission_id"])
        system |= {**preferred, "n": int(own["instance"].nunique())}
        system |= compute_columns(own, unit)
    # The effective number of equally busy days; 0 if days are not modeled.
    n_days = estimates.day_freedom + 1 if estimates.day_freedom else 0
    return {
        "n_judgements": len(raw),
        "n_instances": len(np.unique(instances)),
        "n_workers": len(np.unique(workers)),
        "normalised": "each worker's magnitudes divided by their geometric mean and "
        "multiplied by that of all workers"
        if unit.logarithmic
        else "",
        "variances": {**asdict(estimates.variances), "n_days": n_days},
        **ranking,
        **preferences,
        "agreement": _agreement(ratings, unit),
    }


def _of_judgements(
    ratings: pd.DataFrame, wide: pd.DataFrame, name: str
) -> npt.NDArray[Any] | None:
    if name not in ratings:
        return None
    of = ratings.groupby(["instance", "worker"])[name].min()
    return of.reindex(wide.index).to_numpy()


def _average_levels(raw: Floats, workers: npt.NDArray[Any], unit: Unit) -> Floats:
    shown = ~np.isnan(raw)
    levels = raw.copy()
    if unit.logarithmic:
        # Workers' numbers differ in size: only ratios within one worker compare.
        who = np.repeat(workers, raw.shape[1]).reshape(raw.shape)[shown]
        levels[shown] = normalise_magnitudes(raw[shown], who)
    levels[shown] = unit.to_averaged(levels[shown])
    return levels


def _alone(
    averaged: Floats,
    instances: npt.NDArray[Any],
    unit: Unit,
    seed: int,
    n_resamples: int,
) -> Callable[[int, float], CoveredInterval]:
    """Return intervals for a single worker, which do not cover other raters."""
    import pandas as pd

    def interval(column: int, confidence: float) -> CoveredInterval:
        means = pd.Series(averaged[:, column]).groupby(instances).mean().dropna()
        values: Floats = np.asarray(means, dtype=np.float64)
        return unit.interval(
            values, seed=seed, n_resamples=n_resamples, confidence=confidence
        )

    return interval


def _ranking(
    estimates: SystemEstimates,
    systems: Sequence[int],
    unit: Unit,
    alone: Callable[[int, float], CoveredInterval],
) -> dict[str, Any]:
    ranking = rank_systems(estimates)
    rows, covers = [], set()
    for column, submission_pk in enumerate(systems):
        name = str(column)
        spread = {}
        for confidence in (0.95, 0.5):
            found = unit.to_score(estimates.interval(name, confidence=confidence))
            if found.high == np.inf:
                found = alone(column, confidence)
            spread[confidence] = found
            covers.add(found.covers)
        ranks = ranking.rank_of(name)
        rows.append(
            {
                "submission_id": submission_pk,
                **spread[0.95].flat("mean"),
                "covers": spread[0.95].covers,
                "low_50": spread[0.5].low,
                "high_50": spread[0.5].high,
                "cluster": ranking.cluster_of(name),
                "rank_first": ranks.first,
                "rank_last": ranks.last,
            }
        )
    n = len(systems)
    p_above = [
        [estimates.difference(str(i), str(j)).p_above for j in range(n)]
        for i in range(n)
    ]
    return {"systems": rows, "p_above": p_above, "covers": "; or ".join(sorted(covers))}


def _preferences(
    games: Comparisons, clusters: npt.NDArray[Any], seed: int
) -> dict[str, Any]:
    """Read the magnitudes as games: the higher one wins, equals draw (RankME, table 4).

    Games of one worker are not independent, so workers (instances, if raters are fixed)
    are resampled for TrueSkill and are the clusters of Bradley and Terry's errors.
    """
    skills = true_skill(
        games,
        clusters,
        seed=seed_from("games", seed),
        n_resamples=SKILL_RESAMPLES,
        draw_probability=DRAW_PROBABILITY,
    )
    above = skills.p_above
    n = games.n_systems
    places = significance_clusters(skills.differences, above >= SHARE)
    ranks = skills.ranks_by_order
    strengths, why = _strengths(games, clusters)
    return {
        "systems": [
            {
                **skills.interval(i).flat(*_names("skill")),
                "skill_cluster": places[i],
                # over the orders of the games
                "skill_rank_first": int(ranks[i].min()),
                "skill_rank_last": int(ranks[i].max()),
                "skill_rank_kept": float(skills.rank_kept[i]),
                **strengths[i],
            }
            for i in range(n)
        ],
        "no_strengths": why,
        "win_tie_loss": [
            [list(games.win_tie_loss(i, j)) if i != j else None for j in range(n)]
            for i in range(n)
        ],
    }


def _strengths(
    games: Comparisons, clusters: npt.NDArray[Any]
) -> tuple[list[dict[str, float | None]], str]:
    try:
        fit = bradley_terry_by_worker(games, clusters)
    except GenieError as error:
        return [dict.fromkeys(_names("strength")) for _ in range(games.n_systems)], (
            NO_STRENGTHS.get(error.code, str(error))
        )
    return [
        fit.interval(i).flat(*_names("strength")) for i in range(games.n_systems)
    ], ""


def _names(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _agreement(ratings: pd.DataFrame, unit: Unit) -> dict[str, Any]:
    """Return ICC(1,k) of each output's ratings, if several raters share outputs."""
    # Sorted: the last decimals of a sum depend on its order, which must not depend on
    # workers' labels.
    groups = [
        unit.to_averaged(np.sort(group["value"].to_numpy(dtype=np.float64)))
        for _, group in ratings.groupby(["instance", "submission"], sort=True)
    ]
    if len(groups) < 2 or max(len(group) for group in groups) < 2:
        return {"form": "ICC(1,k)", "value": None, "low": None, "high": None}
    return {"form": "ICC(1,k)", **icc_one_way(groups).flat("value")}
