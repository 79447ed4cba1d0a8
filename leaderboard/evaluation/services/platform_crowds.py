"""One task rated on several platforms: results of their crowds on the same systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from crowd.hits.models import Campaign
from leaderboard.designs.base import Unit
from leaderboard.evaluation.estimates import DIGITS, groups_of
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
)
from leaderboard.evaluation.selectors.board_ratings import (
    board_ratings,
    board_scores,
    evaluations_of,
)
from leaderboard.evaluation.selectors.ranked_scores import anchor_ratings
from leaderboard.stats.crowds import (
    Correlation,
    CrowdComparison,
    SamePopulation,
    SystemInBoth,
    compare_crowds,
)
from leaderboard.stats.systems.estimates import Difference
from leaderboard.stats.systems.table import Variances
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.evaluation.models.human_evaluation import Score


def platforms_of(task: Task) -> list[str]:
    scored = board_scores(task).order_by().values("evaluation")
    campaigns = EvaluationCampaign.objects.filter(evaluation__in=scored)
    rows = Campaign.objects.filter(pk__in=campaigns.values("campaign"))
    return sorted(rows.order_by().values_list("platform", flat=True).distinct())


def compare_platforms(
    ratings: pd.DataFrame,
    units: Mapping[tuple[int, str], Unit],
    pair: tuple[str, str],
    *,
    seed: int,
) -> dict[str, Any] | None:
    """Compare two platforms' crowds on one criterion; the result is JSON.

    A system is the same in both if the same predictions were submitted twice, or if its
    outputs were anchors in the other's campaigns. None without such a system.
    """
    for _, unit, group in groups_of(ratings, units):
        rows = group[group["platform"].isin(pair)]
        if rows["platform"].nunique() < 2:
            return None
        found = compare_crowds(
            unit.to_averaged(rows["value"].to_numpy(float)),
            rows["system"].to_numpy(),
            rows["worker"].to_numpy(),
            rows["instance"].to_numpy(),
            (rows["platform"] == pair[1]).to_numpy(),
            seed=seed,
        )
        if found is not None:
            return {"platforms": list(pair), **_short(asdict(found))}
    return None


def comparison_of(
    stored: Mapping[str, Any], names: Mapping[int, str]
) -> CrowdComparison:
    """Read the result of `compare_platforms`; systems without a name are left out."""
    systems = [
        SystemInBoth(
            names[int(one["system"])],
            tuple(one["means"]),
            _difference(one["difference"]),
            (tuple(one["ranks"][0]), tuple(one["ranks"][1])),
        )
        for one in stored["systems"]
        if int(one["system"]) in names
    ]
    correlation, test = stored["correlation"], stored["population"]
    first, second = (Variances(**one) for one in stored["variances"])
    if test is not None:
        test = SamePopulation(**{**test, "n_workers": tuple(test["n_workers"])})
    return CrowdComparison(
        systems,
        correlation and Correlation(**correlation),
        (first, second),
        tuple(stored["n_ratings"]),
        tuple(stored["n_workers"]),
        test,
    )


def _difference(stored: Mapping[str, Any]) -> Difference:
    # JSON has no infinity; unknown numbers are null
    unknown = {"low": -math.inf, "high": math.inf}
    return Difference(
        **{
            name: unknown.get(name, math.nan) if number is None else number
            for name, number in stored.items()
        }
    )


def _short(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _short(one) for name, one in found.items()}
    if isinstance(found, list | tuple):
        return [_short(one) for one in found]
    if not isinstance(found, float):
        return found
    return round(found, DIGITS) if math.isfinite(found) else None


def ratings_by_platform(scores: Sequence[Score]) -> pd.DataFrame:
    import pandas as pd

    evaluations = evaluations_of(scores)
    platform = {one.system: one.campaign.platform for one in evaluations}
    ratings = board_ratings(evaluations)
    parts = [ratings.assign(platform=ratings["submission"].map(platform))]
    parts += [
        anchor_ratings(one).assign(platform=one.campaign.platform)
        for one in evaluations
    ]
    every = pd.concat([part for part in parts if len(part)], ignore_index=True)
    # one file is one system, regardless of the submitter
    first: dict[str, str] = {}
    system_of = {
        one.pk: first.setdefault(one.file_sha256, str(one.pk))
        for one in sorted((s.submission for s in scores), key=lambda one: one.pk)
    }
    every = every.assign(system=every["submission"].map(system_of))
    return every.dropna(subset=["system"])
