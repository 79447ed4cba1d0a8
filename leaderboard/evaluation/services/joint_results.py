"""Results of a joint evaluation: magnitudes, ranking, preferences, agreement."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone

from genie.lib.seeds import seed_from
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
    Score,
)
from leaderboard.evaluation.selectors.board_ratings import weighed
from leaderboard.evaluation.selectors.system_ratings import (
    OF_SEVERAL,
    campaigns_of,
    dated_ratings_of,
    digest,
    unit_for,
)
from leaderboard.evaluation.services import public_log
from leaderboard.evaluation.services.ranking_numbers import (
    DRAW_PROBABILITY,
    ORDERS,
    SKILL_RESAMPLES,
    numbers_of,
)
from leaderboard.evaluation.services.score import signature_of
from leaderboard.stats.systems.estimates import Population
from leaderboard.stats.systems.ranks import ALPHA
from leaderboard.submissions.models import Submission
from quality.bans.selectors import n_excluded_workers, soft_weights

# A criterion's, in each of its estimates.
_SHARED = ("n_excluded_workers", "seed", "ratings_sha256", "signature")


def systems_of(evaluation: HumanEvaluation) -> list[Submission]:
    return [row.submission for row in evaluation.systems.select_related("submission")]


def results_of(evaluation: HumanEvaluation) -> dict[str, Any]:
    systems = [system.pk for system in systems_of(evaluation)]
    weights = soft_weights(evaluation.task.slug)
    ratings = weighed(dated_ratings_of([evaluation.pk]), weights)
    n_resamples = settings.GENIE["BOOTSTRAP_RESAMPLES"]
    population = evaluation.task.human.population
    by_criterion = {}
    for campaign in campaigns_of(evaluation):
        for criterion in campaign.hit_type.criteria:
            rows = ratings[ratings["criterion"] == criterion]
            unit = unit_for(evaluation.design, campaign, criterion)
            # A separate seed, so that criteria are resampled independently.
            criterion_seed = seed_from("joint", evaluation.seed, criterion)
            numbers = numbers_of(
                rows,
                systems,
                unit=unit,
                seed=criterion_seed,
                n_resamples=n_resamples,
                population=population,
            )
            n = numbers.get("n_instances", 0)
            scale = campaign.hit_type.scale
            signature = signature_of(
                evaluation.task,
                human=evaluation.design,
                scale=scale,
                criterion=criterion,
                agg=unit.aggregate,
                **({"norm": "modulus"} if unit.logarithmic else {}),
                est="mixed-jackknife-cells"
                if population == Population.LIKE
                else "fixed-cr2",
                raters=population.value,
                rank=f"holm{ALPHA:g}",
                bs=n_resamples,
                trueskill=f"draw{DRAW_PROBABILITY:g}-tau0-orders{ORDERS}"
                f"-workers{SKILL_RESAMPLES}",
                icc="1k-log" if unit.logarithmic else "1k",
            )
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


def write(
    row: JointEvaluation, results: Mapping[str, Any], *, reason: str = ""
) -> bool:
    """Replace the results of criteria that changed; return whether any did."""
    criteria = {
        criterion: {name: found[name] for name in found if name != "systems"}
        for criterion, found in results["criteria"].items()
    }
    before = row.results.get("criteria", {})
    changed = [name for name in criteria if criteria[name] != before.get(name)]
    row.results = {**results, "criteria": criteria}
    row.save(update_fields=["results"])
    old = Score._base_manager.filter(evaluation=row, superseded_at=None)
    old.filter(criterion__in=changed).update(superseded_at=timezone.now())
    Score.objects.bulk_create(
        Score(
            evaluation=row,
            estimator=Score.JOINT,
            criterion=criterion,
            provisional=row.final_at is None,
            reason=reason,
            **{name: criteria[criterion][name] for name in _SHARED},
            **system,
        )
        for criterion in changed
        for system in results["criteria"][criterion]["systems"]
    )
    if changed:
        public_log.joint_result(row, results)
    return bool(changed)
