"""One task judged by crowds of several platforms: what they say of the same systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from crowd.hits.models.campaign import Campaign
from crowd.platforms.base import kind_of
from genie.lib.seeds import seed_from
from genie.lib.serving.computed_once import computed_once
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.evaluation.estimates import groups_of
from leaderboard.evaluation.models.anchor import AnchorItem
from leaderboard.evaluation.models.human_evaluation import EvaluationCampaign
from leaderboard.evaluation.selectors.anchors import anchor_ratings
from leaderboard.evaluation.selectors.board_ratings import (
    board_ratings,
    board_scores,
    evaluations_of,
    units_of,
)
from leaderboard.evaluation.services import refit
from leaderboard.stats.crowds.agreement import CrowdComparison, compare_crowds
from leaderboard.stats.systems.variances import Variances
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score

_KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True)
class TwoPools:
    """Two platforms' crowds on one criterion; systems by name."""

    criterion: str
    first: str
    second: str
    comparison: CrowdComparison

    @property
    def crowds(self) -> list[tuple[str, int, int, Variances]]:
        """Give each crowd's name, ratings, workers and variances."""
        found, names = self.comparison, (self.first, self.second)
        parts = (found.n_ratings, found.n_workers, found.variances)
        return list(zip(names, *parts, strict=True))


def has_pools(task: Task) -> bool:
    """Tell whether the board's systems were judged on several platforms."""
    scored = board_scores(task).order_by().values("evaluation")
    campaigns = EvaluationCampaign.objects.filter(evaluation__in=scored)
    platforms = Campaign.objects.filter(pk__in=campaigns.values("campaign"))
    return platforms.order_by().values("platform").distinct().count() > 1


def pools_of(task: Task) -> list[TwoPools]:
    """Compare each two platforms on the systems that both have judged.

    A system is the same in both where the same predictions were handed in twice, or where
    its outputs were anchors in the other's campaigns.
    """
    if not has_pools(task):
        return []
    # what scores are made from, and not each answer that comes in for the next ones
    key = f"crowds-{task.pk}-{refit.inputs_of(task)}"
    return computed_once(key, lambda: _computed(task), _KEPT_SECONDS)


def _computed(task: Task) -> list[TwoPools]:
    scores = list(board_scores(task).select_related("evaluation", "submission"))
    units = units_of(scores)
    ratings = _ratings(scores)
    found = []
    for criterion, unit, group in groups_of(ratings, units):
        values = unit.averaged(group["value"].to_numpy(float))
        group = group.assign(value=values)
        for first, second in combinations(sorted(set(group["platform"])), 2):
            rows = group[group["platform"].isin([first, second])]
            compared = compare_crowds(
                rows["value"].to_numpy(float),
                rows["system"].to_numpy(),
                rows["worker"].to_numpy(),
                rows["instance"].to_numpy(),
                (rows["platform"] == second).to_numpy(),
                seed=seed_from("two crowds", task.slug, criterion),
            )
            if compared is not None:
                a, b = (kind_of(one).title for one in (first, second))
                found.append(TwoPools(criterion, a, b, compared))
    main = main_criterion(task)
    return sorted(found, key=lambda one: one.criterion != main)


def _ratings(scores: list[Score]) -> pd.DataFrame:
    """Give the board's ratings with the platform, and those of anchors, by system."""
    import pandas as pd

    evaluations = evaluations_of(scores)
    platform = {one.pk: one.campaign.platform for one in evaluations}
    ratings = board_ratings(evaluations)
    parts = [ratings.assign(platform=ratings["evaluation"].map(platform))]
    parts += [_anchors(one) for one in evaluations]
    every = pd.concat([part for part in parts if len(part)], ignore_index=True)
    system_of = _names(score.submission for score in scores)
    every = every.assign(system=every["submission"].map(system_of))
    return every.dropna(subset=["system"])


def _names(submissions: Iterable[Submission]) -> dict[int, str]:
    """Name the system of each submission; those of one name are told apart by number."""
    # the same predictions are the same system, whoever handed them in
    names: dict[str, str] = {}
    system_of = {}
    for one in sorted(submissions, key=lambda one: one.pk):
        if one.file_sha256 not in names:
            taken = one.system_name in names.values()
            number = f" ({one.pk})" if taken else ""
            names[one.file_sha256] = f"{one.system_name}{number}"
        system_of[one.pk] = names[one.file_sha256]
    return system_of


def _anchors(evaluation: HumanEvaluation) -> pd.DataFrame:
    ratings = anchor_ratings(evaluation)
    item = AnchorItem.objects.filter(evaluation=evaluation).first()
    return ratings.assign(
        submission=item.submission_id if item else 0,
        platform=evaluation.campaign.platform,
    )
