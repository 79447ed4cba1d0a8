"""Turn clean ratings into scores with intervals; old scores stay, superseded."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

from crowd.hits.models import Campaign
from genie.lib.seeds import seed_from
from leaderboard.designs.base import Unit
from leaderboard.evaluation.estimates import Estimate, plain_intervals
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.result_columns import compute_columns
from leaderboard.evaluation.selectors.ranked_scores import is_whole
from leaderboard.evaluation.selectors.system_ratings import (
    OF_ONE,
    all_system_ratings_of,
    campaigns_of,
    digest,
    known_to_nobody,
    ratings_beside,
    system_ratings,
    unit_for,
)
from leaderboard.evaluation.services import public_log
from leaderboard.evaluation.services.items import links
from leaderboard.stats.intervals import CoveredInterval
from leaderboard.tasks.config import PLAIN
from leaderboard.tasks.models import Task
from quality.bans.selectors import NOT_SENT, n_excluded_workers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Computed:
    submission_pk: int
    criterion: str
    unit: Unit
    interval: CoveredInterval
    interval_50: CoveredInterval
    n_excluded_workers: int
    seed: int
    ratings_sha256: str
    # see `compute_columns`
    columns: dict[str, Any]
    # the link of its crowd to an earlier one; None without a link
    link: dict[str, Any] | None = None
    # instances with a rating, whether or not it counts
    n_rated: int = 0


def compute_scores(evaluation: HumanEvaluation) -> list[Computed]:
    import pandas as pd

    ratings = system_ratings(evaluation)
    ratings = pd.concat(
        [ratings, ratings_beside(evaluation, ratings)], ignore_index=True
    )
    campaign_by_criterion = _campaign_by_criterion(evaluation)
    excluded = {
        campaign: n_excluded_workers(campaign) for campaign in campaigns_of(evaluation)
    }
    unknown = set()
    if evaluation.imported_id:
        unknown = known_to_nobody(ratings["worker"].unique().tolist())
    scores = []
    for (submission_pk, criterion), group in ratings.groupby(
        ["submission", "criterion"], sort=True
    ):
        name, pk = str(criterion), int(str(submission_pk))
        campaign = campaign_by_criterion.get(name, evaluation.campaign)
        known = group["worker"].mask(group["worker"].isin(unknown))
        scores.append(
            _computed_score(
                evaluation.design, campaign, pk, name, group, known, excluded[campaign]
            )
        )
    link_of = links(evaluation, ratings)
    scores = [replace(one, link=link_of.get(one.criterion)) for one in scores]
    if not all(is_whole(one.interval.n, evaluation.n_instances) for one in scores):
        scores = _with_rated(evaluation, scores)
    # the task's criteria come first, in its order; then checkboxes and marks
    order = list(campaign_by_criterion)
    return sorted(
        scores,
        key=lambda score: (
            order.index(score.criterion)
            if score.criterion in campaign_by_criterion
            else len(order)
        ),
    )


def _with_rated(evaluation: HumanEvaluation, scores: list[Computed]) -> list[Computed]:
    ratings = all_system_ratings_of([evaluation.pk])
    sent = ratings[ratings["why_not"] != NOT_SENT]
    n_rated = sent.groupby(["submission", "criterion"])["instance"].nunique()
    return [
        replace(one, n_rated=int(n_rated.get((one.submission_pk, one.criterion), 0)))
        for one in scores
    ]


def _is_provisional(evaluation: HumanEvaluation, score: Computed) -> bool:
    if is_whole(score.interval.n, evaluation.n_instances):
        return evaluation.final_at is None
    return is_whole(score.n_rated, evaluation.n_instances)


def _campaign_by_criterion(evaluation: HumanEvaluation) -> dict[str, Campaign]:
    return {
        criterion: campaign
        for campaign in campaigns_of(evaluation)
        for criterion in (
            *campaign.hit_type.criteria,
            *campaign.hit_type.form.get("checkboxes", ()),
        )
    }


def _computed_score(
    design: str,
    campaign: Campaign,
    submission_pk: int,
    criterion: str,
    ratings: pd.DataFrame,
    known: pd.Series[Any],
    n_excluded: int,
) -> Computed:
    unit = unit_for(design, campaign, criterion)
    # Seeded by names: the same ratings give the same interval, whenever it is computed.
    seed = seed_from("bootstrap", campaign.key, criterion)
    intervals = plain_intervals(
        unit, ratings, seed=seed, n_resamples=settings.GENIE["BOOTSTRAP_RESAMPLES"]
    )
    return Computed(
        submission_pk=submission_pk,
        criterion=criterion,
        unit=unit,
        interval=intervals[0.95],
        interval_50=intervals[0.5],
        n_excluded_workers=n_excluded,
        seed=seed,
        ratings_sha256=digest(ratings, OF_ONE),
        columns=compute_columns(ratings.assign(worker=known), unit),
    )


def write(
    evaluation: HumanEvaluation, scores: list[Computed], *, reason: str = ""
) -> bool:
    """Add scores that differ from the current ones; return whether any did.

    `rescoring` decides when published scores change; the new ones have the `reason`.
    """
    current = {
        (score.submission_id, score.criterion): score
        for score in evaluation.current_scores
    }
    # A score without a counting rating must not be on a board.
    names = {(score.submission_pk, score.criterion) for score in scores}
    gone = [old.pk for name, old in current.items() if name not in names]
    written, asked_by = [], _campaign_by_criterion(evaluation)
    Score.objects.filter(pk__in=gone).update(superseded_at=timezone.now())
    for new in scores:
        old = current.get((new.submission_pk, new.criterion))
        if old is not None and (old.ratings_sha256, old.n_excluded_workers) == (
            new.ratings_sha256,
            new.n_excluded_workers,
        ):
            continue
        # Before the new one is stored: only one score of a criterion may be current.
        if old is not None:
            Score.objects.filter(pk=old.pk).update(superseded_at=timezone.now())
        made = Score.objects.create(
            submission_id=new.submission_pk,
            evaluation=evaluation,
            criterion=new.criterion,
            mean=new.interval.estimate,
            low=new.interval.low,
            high=new.interval.high,
            low_50=new.interval_50.low,
            high_50=new.interval_50.high,
            n=new.interval.n,
            n_excluded_workers=new.n_excluded_workers,
            covers=new.interval.covers,
            seed=new.seed,
            ratings_sha256=new.ratings_sha256,
            signature=signature_of(
                evaluation.task,
                human=evaluation.design,
                scale=asked_by.get(new.criterion, evaluation.campaign).hit_type.scale,
                criterion=new.criterion,
                agg=new.unit.aggregate,
                n=new.interval.n,
                ci=f"{new.interval.method}95",
                bs=settings.GENIE["BOOTSTRAP_RESAMPLES"],
                seed=new.seed,
            ),
            estimates={PLAIN: asdict(Estimate.combine(new.interval, new.interval_50))},
            provisional=_is_provisional(evaluation, new),
            reason=reason if old is not None else "",
            link=new.link,
            **new.columns,
        )
        written.append(made)
    public_log.scores(written)
    return bool(gone or written)


def signature_of(task: Task, **parts: Any) -> str:
    parts["set"] = f"{task.slug}@{task.release_sha256[:8]}"
    parts |= {"detector": task.detector, "version": settings.VERSION}
    return "|".join(f"{name}:{value}" for name, value in parts.items())
