"""The numbers of one criterion of a joint evaluation, from its ratings alone.

Nothing here asks the database: a release is computed again by the same functions. What
identifies a worker decides nothing, so that a pseudonym does as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genie.lib.seeds import generator, seed_from
from leaderboard.designs.unit import Unit
from leaderboard.stats.comparisons import comparisons_from_table
from leaderboard.stats.magnitude import normalise_magnitudes
from leaderboard.stats.resampling import Floats
from leaderboard.stats.significance import (
    bootstrap_ranking,
    rank_confidence_sets,
    significance_clusters,
)
from leaderboard.stats.true_skill import skill_shares, true_skill
from quality.agreement.icc import icc_one_way

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.95
DRAW_PROBABILITY = 0.1
SKILL_RESAMPLES = 200
# Decimals of what is averaged: equal means are equal numbers on every machine.
DECIMALS = 12
NORMALISED = (
    "each worker's magnitudes divided by their geometric mean and multiplied by that of "
    "all workers"
)


def numbers_of(
    ratings: pd.DataFrame,
    systems: Sequence[int],
    *,
    unit: Unit,
    seed: int,
    n_resamples: int,
) -> dict[str, Any]:
    """Compute magnitudes, ranking, TrueSkill and agreement.

    Parameters
    ----------
    ratings : DataFrame
        Those that count: instance (its position), worker, submission, value.
    systems : sequence of int
        The submissions, in the order of the answer's rows.
    unit : Unit
    seed, n_resamples : int

    Returns
    -------
    dict
        As it is stored and shown; `n_judgements` 0 and no systems where nothing counts.
    """
    import pandas as pd

    wide = _judgements(ratings, systems)
    if wide.empty:
        return {"n_judgements": 0, "systems": []}
    raw, instances, averaged = _laid_out(wide, unit)
    frame = pd.DataFrame(averaged).groupby(instances, sort=True).mean()
    table = np.round(frame.to_numpy(), DECIMALS)
    return {
        "n_judgements": len(raw),
        "n_instances": len(table),
        "n_workers": wide.index.get_level_values("worker").nunique(),
        "normalised": NORMALISED if unit.logarithmic else "",
        **_ranking(table, systems, unit, seed, n_resamples),
        **_skills(raw, seed),
        "agreement": _agreement(ratings, unit),
    }


def _judgements(ratings: pd.DataFrame, systems: Sequence[int]) -> pd.DataFrame:
    """Lay the ratings out: a row a judgement (instance, worker), a column a system."""
    wide = ratings.pivot_table(
        index=["instance", "worker"], columns="submission", values="value"
    )
    # A judgement that lacks a system says nothing about the order of all of them.
    return wide.reindex(columns=list(systems)).dropna()


def _laid_out(
    wide: pd.DataFrame, unit: Unit
) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """Give ratings, instances and what is averaged, in an order that no worker gives."""
    raw = wide.to_numpy(dtype=np.float64)
    instances = wide.index.get_level_values("instance").to_numpy()
    workers = wide.index.get_level_values("worker").to_numpy()
    levels = raw
    if unit.logarithmic:
        # Workers' numbers differ in size: only ratios within one worker compare.
        flat = normalise_magnitudes(raw.ravel(), np.repeat(workers, raw.shape[1]))
        levels = flat.reshape(raw.shape)
    averaged = unit.averaged(levels)
    keys = np.column_stack([instances, raw, averaged])
    order = np.lexsort(keys.T[::-1])
    return raw[order], instances[order], averaged[order]


def _ranking(
    table: Floats, systems: Sequence[int], unit: Unit, seed: int, n_resamples: int
) -> dict[str, Any]:
    """Rank by the paired bootstrap over instances; each instance counts once."""
    ranked = bootstrap_ranking(table, seed=seed, n_resamples=n_resamples, share=SHARE)
    ranks = rank_confidence_sets(table, seed=seed, n_resamples=n_resamples)
    rows = []
    for column, submission_pk in enumerate(systems):
        spread = {
            confidence: unit.interval(
                table[:, column],
                seed=seed,
                n_resamples=n_resamples,
                confidence=confidence,
            )
            for confidence in (0.95, 0.5)
        }
        rows.append(
            {
                "submission": submission_pk,
                "mean": spread[0.95].estimate,
                "low": spread[0.95].low,
                "high": spread[0.95].high,
                "low_50": spread[0.5].low,
                "high_50": spread[0.5].high,
                "cluster": ranked.clusters[column],
                "rank_first": ranks[column].first,
                "rank_last": ranks[column].last,
            }
        )
    return {"systems": rows, "p_above": ranked.p_above.tolist()}


def _skills(raw: Floats, seed: int) -> dict[str, Any]:
    """Read the magnitudes as games: who is higher wins, equals draw (RankME, table 4).

    TrueSkill depends a little on the order of the games; it is drawn.
    """
    drawn = generator(seed_from("games", seed)).permutation(len(raw))
    games = comparisons_from_table(raw[drawn])
    skills = true_skill(games, draw_probability=DRAW_PROBABILITY)
    shares = skill_shares(
        raw, seed=seed, n_resamples=SKILL_RESAMPLES, draw_probability=DRAW_PROBABILITY
    )
    # Ordered by how many systems each one beats in more than half of the resamples.
    order = (shares > 0.5).sum(axis=1).astype(float)
    n = raw.shape[1]
    return {
        "true_skill": [
            {"mu": skill.mu, "sigma": skill.sigma, "cluster": cluster}
            for skill, cluster in zip(
                skills, significance_clusters(order, shares >= SHARE), strict=True
            )
        ],
        "win_tie_loss": [
            [list(games.win_tie_loss(i, j)) if i != j else None for j in range(n)]
            for i in range(n)
        ],
    }


def _agreement(ratings: pd.DataFrame, unit: Unit) -> dict[str, Any]:
    """Give ICC(1,k) of the ratings of each output, where several people gave one."""
    # Sorted: the last decimals of a sum depend on its order, and that must not depend
    # on who the workers are.
    groups = [
        unit.averaged(np.sort(group["value"].to_numpy(dtype=np.float64)))
        for _, group in ratings.groupby(["instance", "submission"], sort=True)
    ]
    if len(groups) < 2 or max(len(group) for group in groups) < 2:
        return {"form": "ICC(1,k)", "value": None, "low": None, "high": None}
    icc = icc_one_way(groups)
    return {
        "form": "ICC(1,k)",
        "value": _finite(icc.value),
        "low": _finite(icc.low),
        "high": _finite(icc.high),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
