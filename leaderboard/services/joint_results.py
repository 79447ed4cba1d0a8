"""What a joint evaluation found: magnitudes, ranking, TrueSkill, agreement."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from django.conf import settings

from genie.lib.seeds import seed_from
from leaderboard.designs.unit import Unit
from leaderboard.models import HumanEvaluation, Submission
from leaderboard.selectors.campaigns import campaigns_of
from leaderboard.services.ratings import system_ratings, unit_for
from leaderboard.stats.comparisons import comparisons_from_table
from leaderboard.stats.magnitude import normalise_magnitudes
from leaderboard.stats.resampling import Floats
from leaderboard.stats.significance import (
    bootstrap_ranking,
    rank_confidence_sets,
    significance_clusters,
)
from leaderboard.stats.true_skill import skill_shares, true_skill
from quality.selectors.clean_ratings import n_excluded_workers
from quality.stats.icc import icc_one_way

SHARE = 0.95
DRAW_PROBABILITY = 0.1
SKILL_RESAMPLES = 200
NORMALISED = (
    "each worker's magnitudes divided by their geometric mean and multiplied by that of "
    "all workers"
)


def results_of(
    evaluation: HumanEvaluation, systems: Sequence[Submission], *, seed: int
) -> dict[str, Any]:
    """Compute everything that one page shows, criterion by criterion."""
    ratings = system_ratings(evaluation)
    found = {}
    for campaign in campaigns_of(evaluation):
        for criterion in campaign.hit_type.criteria:
            rows = ratings[ratings["criterion"] == criterion]
            found[criterion] = _of_criterion(
                rows,
                [one.pk for one in systems],
                unit=unit_for(campaign, criterion),
                seed=seed_from("joint", seed, criterion),
                signature=_signature(evaluation, campaign.hit_type.scale, criterion),
                n_excluded=n_excluded_workers(campaign),
            )
    return {"criteria": found}


def _of_criterion(
    ratings: pd.DataFrame,
    systems: Sequence[int],
    *,
    unit: Unit,
    seed: int,
    signature: str,
    n_excluded: int,
) -> dict[str, Any]:
    raw = _judgements(ratings, systems)
    if raw.empty:
        return {"n_judgements": 0, "systems": [], "signature": signature}
    workers = raw.index.get_level_values("worker").to_numpy()
    levels = raw.to_numpy(dtype=np.float64)
    if unit.logarithmic:
        flat = normalise_magnitudes(levels.ravel(), np.repeat(workers, len(systems)))
        levels = flat.reshape(levels.shape)
    averaged = unit.averaged(levels)
    frame = pd.DataFrame(averaged, index=raw.index)
    table = frame.groupby(level="instance", sort=True).mean().to_numpy()
    return {
        "n_judgements": len(raw),
        "n_instances": len(table),
        "n_workers": len(set(workers.tolist())),
        "n_excluded_workers": n_excluded,
        "normalised": NORMALISED if unit.logarithmic else "",
        **_ranking(table, systems, unit, seed),
        **_skills(raw.to_numpy(dtype=np.float64), seed),
        "agreement": _agreement(ratings, unit),
        "ratings_sha256": _digest(ratings),
        "signature": f"{signature}|n:{len(table)}|seed:{seed}",
    }


def _judgements(ratings: pd.DataFrame, systems: Sequence[int]) -> pd.DataFrame:
    """Lay the ratings out: a row a judgement (instance, worker), a column a system."""
    wide = ratings.pivot_table(
        index=["instance", "worker"], columns="submission", values="value"
    )
    return wide.reindex(columns=list(systems)).dropna()


def _ranking(
    table: Floats, systems: Sequence[int], unit: Unit, seed: int
) -> dict[str, Any]:
    """Rank by the paired bootstrap over instances; each instance counts once."""
    n_resamples = settings.GENIE["BOOTSTRAP_RESAMPLES"]
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
    """Read the magnitudes as games: who is higher wins, equals draw (RankME, table 4)."""
    games = comparisons_from_table(raw)
    skills = true_skill(games, draw_probability=DRAW_PROBABILITY)
    shares = skill_shares(
        raw, seed=seed, n_resamples=SKILL_RESAMPLES, draw_probability=DRAW_PROBABILITY
    )
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
    groups = [
        unit.averaged(group["value"].to_numpy(dtype=np.float64))
        for _, group in ratings.groupby(["instance", "submission"], sort=True)
    ]
    if len(groups) < 2 or max(len(group) for group in groups) < 2:
        return {"form": "ICC(1,k)", "value": None, "low": None, "high": None}
    found = icc_one_way(groups)
    return {
        "form": "ICC(1,k)",
        "value": _finite(found.value),
        "low": _finite(found.low),
        "high": _finite(found.high),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _digest(ratings: pd.DataFrame) -> str:
    columns = ["submission", "instance", "worker", "value"]
    table = ratings[columns].to_csv(index=False, header=False)
    return hashlib.sha256(table.encode()).hexdigest()


def _signature(evaluation: HumanEvaluation, scale: str, criterion: str) -> str:
    task = evaluation.task
    parts = {
        "human": evaluation.design,
        "scale": scale,
        "criterion": criterion,
        "agg": "geometric-mean",
        "norm": "modulus",
        "rank": f"paired-bootstrap{SHARE:g}",
        "bs": settings.GENIE["BOOTSTRAP_RESAMPLES"],
        "trueskill": f"draw{DRAW_PROBABILITY:g}-tau0-bs{SKILL_RESAMPLES}",
        "icc": "1k-log",
        "set": f"{task.slug}@{task.release_sha256[:8]}",
        "detector": settings.GENIE["DETECTOR"],
        "version": settings.VERSION,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())
