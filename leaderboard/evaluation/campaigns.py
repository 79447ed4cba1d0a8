"""The campaigns of an evaluation: created, watched while workers answer, ended."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from crowd.campaigns.services import reissue, run
from crowd.campaigns.services.run import limit_share, watch_crowd
from crowd.elsewhere.models import is_unvouched
from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import COUNTED, CampaignProgress, campaign_progress, is_done
from crowd.hits.services.build import build_campaign
from crowd.money.services import budgets
from crowd.pricing import share_of
from genie.lib.typing import Account
from leaderboard.evaluation import machine
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
    HumanEvaluation,
    Subject,
)
from leaderboard.evaluation.services import items, qualification
from leaderboard.evaluation.services.hidden.apart import keep_alike_apart
from leaderboard.evaluation.services.items import JudgedSpec, Part, remember_anchors
from leaderboard.submissions import states
from leaderboard.tasks.config import EDITED, HumanConfig
from leaderboard.tasks.models import Task
from leaderboard.tasks.services import configuration
from quality.bans.selectors import waits_for_decision
from quality.detection.services import judge
from quality.test_questions import services
from quality.test_questions.services import settle

# End campaigns: answers are closed and the account is settled in one step.
CampaignState = Campaign.State


def close_campaigns(campaigns: Iterable[Campaign]) -> list[CampaignProgress] | None:
    """Complete campaigns that are over and settle their accounts.

    Return None and change nothing while one of them waits for workers or for a decision
    on exclusions. The caller opens the transaction and, if it needs a submission's row,
    locks that first.
    """
    # Code that sends work out again after a ban locks these rows, too: finished work
    # may have been reopened a moment ago.
    locked = list(
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .filter(pk__in=[campaign.pk for campaign in campaigns])
        .order_by("pk")
    )
    if not can_close(locked):
        return None
    progress = []
    for campaign in locked:
        run.complete(campaign.pk)
        progress.append(campaign_progress(campaign))
        budgets.settle(campaign.key, progress[-1].spent_cents)
    return progress


def can_close(campaigns: Collection[Campaign]) -> bool:
    """Check that all are over and no exclusion waits for a decision."""
    return all(
        is_over(campaign) for campaign in campaigns
    ) and not waits_for_exclusions(campaigns)


def waits_for_exclusions(campaigns: Iterable[Campaign]) -> bool:
    """Check whether an exclusion waits for a decision, which delays every result."""
    pools = {(campaign.pool_id, campaign.simulated) for campaign in campaigns}
    return any(
        waits_for_decision(pool, simulated=simulated) for pool, simulated in pools
    )


def is_over(campaign: Campaign) -> bool:
    """Check that no answer can come in any more.

    Workers may send in pages that were open when staff stopped the campaign. Work of
    visits that the platform has not confirmed yet is waited for.
    """
    if campaign.state == CampaignState.STOPPED:
        return not Assignment.objects.filter(
            Q(state=Assignment.State.ACCEPTED)
            | Q(is_unvouched("pk"), state__in=COUNTED),
            hit__campaign=campaign,
        ).exists()
    return campaign.state == CampaignState.COMPLETE or (
        campaign.state == CampaignState.RUNNING and is_done(campaign)
    )


def asks_again() -> Q:
    """Select campaigns that collect, or were stopped then and are not settled yet."""
    return Q(state=CampaignState.RUNNING) | Q(
        state=CampaignState.STOPPED, completed_at=None
    )


def read_stopped(campaigns: Iterable[Campaign]) -> list[Campaign]:
    """Return the stopped campaigns among these, read from the database again."""
    pks = [campaign.pk for campaign in campaigns]
    return list(Campaign.objects.filter(pk__in=pks, state=CampaignState.STOPPED))


State = states.State


def send_out(
    evaluation: HumanEvaluation,
    human: HumanConfig,
    parts: Sequence[Part],
    *,
    starts_at: datetime,
    ratings_per_item: int,
) -> None:
    n_each = len(human.separate())
    for place, part in enumerate(parts):
        position = place % n_each
        if position == 0:
            # The task may have changed its way of asking since the approval.
            own = parts[place : place + n_each]
            budgets.divide(part.key, [one.key for one in own])
        campaign = build(
            evaluation,
            human,
            part,
            budget_cents=share_of(evaluation.approved_cents or 0, len(parts), place),
            starts_at=starts_at,
            ratings_per_item=ratings_per_item,
            position=position,
            criterion=next(iter(part.criteria)) if n_each > 1 else "",
        )
        remember(evaluation, campaign, part.judged)
        remember_anchors(evaluation, campaign, part.anchors)
        services.place(campaign, part.hidden)
        if human.test_questions == EDITED:
            keep_alike_apart(campaign)


def build(
    evaluation: HumanEvaluation,
    human: HumanConfig,
    part: Part,
    *,
    budget_cents: int,
    starts_at: datetime,
    ratings_per_item: int,
    position: int = 0,
    criterion: str = "",
) -> Campaign:
    """Create one campaign of an evaluation, without items."""
    specs = [
        *(item.spec for item in part.judged),
        *(item.spec for item in part.hidden),
        *(item.spec for item in part.anchors),
    ]
    campaign = build_campaign(
        key=part.key,
        pool=evaluation.task.slug,
        title=part.title,
        hit_type=configuration.hit_type_of(evaluation.task, human, part.criteria),
        items=specs,
        platform=human.platform,
        budget_cents=budget_cents,
        seed=part.seed,
        starts_at=starts_at,
        exposure=human.exposure,
        simulated=evaluation.simulated,
        max_assignments=ratings_per_item,
        n_twice=human.n_twice(len(specs), ratings_per_item),
    )
    # In the transaction that creates it: no HIT is assigned before the requirement.
    qualification.require_of(evaluation.task, campaign)
    limit_share(campaign, human.share_of_one, follows_crowd=human.share_follows_crowd)
    EvaluationCampaign.objects.create(
        evaluation=evaluation,
        submission=part.submission,
        campaign=campaign,
        criterion=criterion,
        position=position,
    )
    return campaign


def remember(
    evaluation: HumanEvaluation, campaign: Campaign, judged: Sequence[JudgedSpec]
) -> list[Subject]:
    item_of = dict(campaign.items.values_list("key", "pk"))
    return items.remember(evaluation, item_of, judged)


def grade_and_judge(
    task: Task,
    campaigns: Sequence[Campaign],
    *,
    in_waves: bool = False,
    complete: bool = False,
) -> None:
    """Grade test questions, detect careless workers, ask again for lost ratings.

    Left-over items of a campaign that grows `in_waves` are answered with the next wave.
    Use `complete` at the end: the detector then uses all answers. Imported work
    contains none of our test questions and is no evidence about workers here.
    """
    if task.imported:
        return
    for campaign in campaigns:
        services.grade(campaign)
    # The detector uses all graded answers in the pool, so grading comes first.
    judge.judge(
        campaigns[0].pool_id,
        simulated=campaigns[0].simulated,
        noisy_below=configuration.noisy_below(task.human),
        complete=complete,
    )
    for campaign in campaigns:
        # Left-over items are closed before workers are notified of work.
        if not in_waves and settle(campaign):
            # Money for test questions that are not needed pays for lost ratings.
            reissue.replace_lost(campaign.pk)
        watch_crowd(campaign)


def collect(evaluation: HumanEvaluation) -> None:
    """Watch a fixed sample; go to ANNOTATED or STOPPED when all answers are in."""
    campaigns = evaluation.campaigns_in_order
    asking_now = [c for c in campaigns if c.state != Campaign.State.SCHEDULED]
    if not asking_now:
        return
    grade_and_judge(evaluation.task, asking_now)
    if not can_close(campaigns):
        return
    grade_and_judge(evaluation.task, asking_now, complete=True)
    with transaction.atomic():
        # Read under the lock: staff may have stopped it, or a team withdrawn a system,
        # while answers were checked.
        now = machine.lock(evaluation.pk)
        asking = now.state == State.ANNOTATING and now.campaigns_in_order == campaigns
        closed = close_campaigns(campaigns) if asking else None
        if closed is None:
            return
        n_done = sum(progress.n_done for progress in closed)
        n_hits = sum(progress.n_hits for progress in closed)
        stopped = read_stopped(campaigns)
        publishes = all(campaign.publish_partial for campaign in stopped)
        who = "Simulated annotators" if evaluation.simulated else "Workers"
        sentence = (
            f"{who} have answered {n_done:,} of {n_hits:,} "
            f"{'outputs or pairs' if evaluation.task.by_colleagues else 'HITs'}"
        )
        if stopped:
            sentence += ", then staff stopped it"
        if not publishes:
            sentence += " and decided to publish no result"
        machine.move(
            now, State.ANNOTATED if publishes else State.STOPPED, f"{sentence}."
        )


def end(
    evaluation: HumanEvaluation,
    keys: Sequence[str],
    *,
    by: Account,
    reason: str,
    publish: bool | None = None,
) -> None:
    """Stop the campaigns and release the unspent money reserved under `keys`."""
    campaigns = evaluation.campaigns_in_order
    for key in () if campaigns else keys:
        budgets.release(key)
    for campaign in campaigns:
        run.stop(campaign.pk, by=by, reason=reason, publish=publish)
        budgets.settle(campaign.key, campaign_progress(campaign).spent_cents)
