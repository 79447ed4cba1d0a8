"""Results of a joint evaluation: magnitudes, ranking, preferences, agreement."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings

from genie.lib.seeds import seed_from
from leaderboard.designs.base import Unit
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.board_ratings import weighed
from leaderboard.evaluation.selectors.system_ratings import (
    OF_SEVERAL,
    campaigns_of,
    dated_ratings_of,
    digest,
    unit_for,
)
from leaderboard.evaluation.services.ranking_numbers import (
    DRAW_PROBABILITY,
    ORDERS,
    SKILL_RESAMPLES,
    numbers_of,
)
from leaderboard.stats.systems.ranks import ALPHA
from leaderboard.submissions.models import Submission
from quality.bans.selectors import n_excluded_workers, soft_weights

Means = Mapping[tuple[str, int], float]


def systems_of(evaluation: HumanEvaluation) -> list[Submission]:
    return [row.submission for row in evaluation.systems.select_related("submission")]


def results_of(
    evaluation: HumanEvaluation, systems: Sequence[Submission], *, seed: int
) -> dict[str, Any]:
    weights = soft_weights(evaluation.task.slug)
    ratings = weighed(dated_ratings_of([evaluation.pk]), weights)
    n_resamples = settings.GENIE["BOOTSTRAP_RESAMPLES"]
    by_criterion = {}
    for campaign in campaigns_of(evaluation):
        for criterion in campaign.hit_type.criteria:
            rows = ratings[ratings["criterion"] == criterion]
            unit = unit_for(evaluation.design, campaign, criterion)
            # A separate seed, so that criteria are resampled independently.
            criterion_seed = seed_from("joint", seed, criterion)
            numbers = numbers_of(
                rows,
                [system.pk for system in systems],
                unit=unit,
                seed=criterion_seed,
                n_resamples=n_resamples,
            )
            n = numbers.get("n_instances", 0)
            scale = campaign.hit_type.scale
            signature = _signature(evaluation, scale, criterion, unit)
            by_criterion[criterion] = {
                **numbers,
                "n_excluded_workers": n_excluded_workers(campaign),
                "scale": scale,
                "seed": criterion_seed,
                "n_resamples": n_resamples,
                "ratings_sha256": digest(rows, OF_SEVERAL),
                "signature": f"{signature}|n:{n}|seed:{criterion_seed}",
            }
    # the weights used: workers' weights change every day
    pairs = zip(ratings["worker"].tolist(), ratings["item"].tolist(), strict=True)
    named = {key for who, item in pairs for key in (str(who), f"{who}:{item}")}
    used = {key: weights[key] for key in sorted(weights.keys() & named)}
    return {"criteria": by_criterion, "weights": used}


def joint_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], *, at: datetime, reason: str
) -> list[dict[str, Any]]:
    """Return the magnitudes whose displayed value differs, with the reason."""
    old, new = _means(before), _means(after)
    return [
        {
            "at": at.isoformat(),
            "reason": reason,
            "criterion": criterion,
            "submission": submission,
            "before": old.get((criterion, submission)),
            "after": new.get((criterion, submission)),
        }
        for criterion, submission in dict.fromkeys([*old, *new])
        if _shown(old, criterion, submission) != _shown(new, criterion, submission)
    ]


def _means(results: Mapping[str, Any]) -> dict[tuple[str, int], float]:
    return {
        (criterion, row["submission"]): row["mean"]
        for criterion, about in results.get("criteria", {}).items()
        for row in about["systems"]
    }


def _shown(means: Means, criterion: str, submission: int) -> str:
    mean = means.get((criterion, submission))
    return "" if mean is None else f"{mean:.1f}"


def _signature(
    evaluation: HumanEvaluation, scale: str, criterion: str, unit: Unit
) -> str:
    task = evaluation.task
    logarithmic = unit.logarithmic
    parts = {
        "human": evaluation.design,
        "scale": scale,
        "criterion": criterion,
        "agg": unit.aggregate,
        **({"norm": "modulus"} if logarithmic else {}),
        "est": "mixed-jackknife",
        "rank": f"holm{ALPHA:g}",
        "bs": settings.GENIE["BOOTSTRAP_RESAMPLES"],
        "trueskill": f"draw{DRAW_PROBABILITY:g}-tau0-orders{ORDERS}-workers{SKILL_RESAMPLES}",
        "icc": "1k-log" if logarithmic else "1k",
        "set": f"{task.slug}@{task.release_sha256[:8]}",
        "detector": settings.GENIE["DETECTOR"],
        "version": settings.VERSION,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())
