"""Ask people: build the campaigns of a submission, and see when they are done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from crowd.models import Campaign
from crowd.services import fund, run, watch
from crowd.services.build import build_campaign
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.designs.base import Design
from leaderboard.models import (
    HumanEvaluation,
    Prediction,
    SeparateCampaign,
    Submission,
)
from leaderboard.selectors.campaigns import campaigns_of
from leaderboard.services import closing, items, lifecycle, qualification
from leaderboard.services.approve import commitment_key, parts
from leaderboard.services.asking import (
    design_of,
    hit_type_of,
    noisy_below,
    separate,
    starts_at,
)
from leaderboard.services.campaign_titles import campaign_title
from leaderboard.services.items import Entry, JudgedSpec
from quality.services import grade, inject, judge

State = Submission.State


@dataclass(frozen=True)
class Part:
    """One campaign before it is built: what it asks of what."""

    key: str
    criteria: dict[str, str]
    seed: int
    judged: list[JudgedSpec]
    hidden: list[inject.HiddenItem]


def launch(pk: int) -> None:
    """Go from APPROVED to ANNOTATING: campaigns, hidden test questions, HITs, at once."""
    submission = Submission.objects.select_related("task").get(pk=pk)
    if submission.state != State.APPROVED:
        return
    design = design_of(submission.task, submission.task.human)
    items.refuse_several(submission.task, design)
    qualification.ensure(submission.task)
    planned = _parts(submission, design)
    begins_at = starts_at(now=submission.start_now)
    with transaction.atomic():
        # The task may ask in other campaigns now than when this was approved.
        fund.divide(commitment_key(pk), [part.key for part in planned])
        campaigns = [_built(submission, p, len(planned), begins_at) for p in planned]
        _remember(submission, campaigns, planned)
        for campaign, part in zip(campaigns, planned, strict=True):
            inject.place(campaign, part.hidden)
            qualification.require_of(submission.task, campaign)
        if not lifecycle.move(
            pk,
            State.APPROVED,
            State.ANNOTATING,
            f"{len(planned[0].judged):,} outputs will be rated by "
            f"{'simulated annotators' if submission.simulated else 'workers'}, "
            f"starting on {begins_at:%Y-%m-%d at %H:%M} UTC.",
        ):
            raise lifecycle.LostRace
        run.start_due()


def collect(pk: int) -> None:
    """Grade, judge and ban as answers come in; go to ANNOTATED when all are there."""
    evaluation = HumanEvaluation.objects.select_related(
        "campaign", "submission__task"
    ).get(submission_id=pk)
    if evaluation.one.state != State.ANNOTATING:
        return
    campaigns = campaigns_of(evaluation)
    asking = [c for c in campaigns if c.state != Campaign.State.SCHEDULED]
    if not asking:
        return
    for campaign in asking:
        grade.grade(campaign)
    judge.judge(
        evaluation.campaign.pool,
        simulated=evaluation.campaign.simulated,
        noisy_below=noisy_below(evaluation.one.task.human),
    )
    for campaign in asking:
        watch.watch(campaign)
    _end(pk, campaigns)


def _end(pk: int, campaigns: Sequence[Campaign]) -> None:
    with transaction.atomic():
        lifecycle.lock(pk)
        closed = closing.close(campaigns)
        if closed is None:
            return
        n_done = sum(one.n_done for one in closed)
        n_hits = sum(one.n_hits for one in closed)
        stopped = closing.stopped(campaigns)
        publishes = all(campaign.publish_partial for campaign in stopped)
        who = "Simulated annotators" if campaigns[0].simulated else "Workers"
        sentence = f"{who} have answered {n_done:,} of {n_hits:,} HITs"
        if stopped:
            sentence += ", then staff stopped the campaign"
        if not publishes:
            sentence += " and decided to publish no result"
        moved = lifecycle.move(
            pk,
            State.ANNOTATING,
            State.ANNOTATED if publishes else State.STOPPED,
            f"{sentence}.",
        )
        if not moved:
            raise lifecycle.LostRace


def publish_partial(pk: int, *, by: Account, reason: str) -> None:
    """Score and publish, after all, what there was when staff stopped the campaign."""
    with transaction.atomic():
        submission = lifecycle.lock(pk)
        if submission.state != State.STOPPED:
            raise GenieError(
                f"{submission.system_name} is {submission.get_state_display()}; "
                "only a submission that was stopped without publishing can be "
                "published now.",
                code="not-stopped",
            )
        campaigns = campaigns_of(HumanEvaluation.objects.get(submission_id=pk))
        Campaign.objects.filter(
            pk__in=[campaign.pk for campaign in campaigns],
            state=Campaign.State.STOPPED,
        ).update(publish_partial=True)
        lifecycle.move(
            pk,
            State.STOPPED,
            State.ANNOTATED,
            f"Staff decided to publish the partial result: {reason}",
            by=by,
        )


def _parts(submission: Submission, design: Design) -> list[Part]:
    """Plan one campaign for all criteria, or one for each (setup 2)."""
    task, human = submission.task, submission.task.human
    predictions = list(
        Prediction.objects.filter(
            submission=submission, instance__sample_rank__lt=task.sample_size
        )
        .select_related("instance")
        .order_by("instance__sample_rank")
    )
    found = []
    for criteria, key in zip(separate(human), parts(submission), strict=True):
        seed = seed_for("campaign", key)
        judged = [
            items.judged(
                task,
                human,
                row.instance,
                _entries(row, design),
                campaign_key=key,
                seed=seed,
            )
            for row in predictions
        ]
        hidden = items.hidden(
            task,
            human,
            criteria,
            campaign_key=key,
            n_items=task.sample_size,
            seed=seed,
        )
        found.append(Part(key, criteria, seed, judged, hidden))
    return found


def _entries(row: Prediction, design: Design) -> list[Entry]:
    own = Entry(row.text, row.submission_id)
    if design.shows != "an output and a reference":
        return [own]
    return [own, *(Entry(text, None) for text in row.instance.references[:1])]


def _built(
    submission: Submission, part: Part, n_parts: int, begins_at: datetime
) -> Campaign:
    task, human = submission.task, submission.task.human
    return build_campaign(
        key=part.key,
        pool=task.slug,
        title=campaign_title(
            task.title,
            [submission.system_name],
            detail=next(iter(part.criteria)) if n_parts > 1 else "",
        ),
        hit_type=hit_type_of(task, human, part.criteria),
        items=[one.spec for one in part.judged] + [one.spec for one in part.hidden],
        platform=str(human.get("platform", "selfhosted")),
        budget_cents=(submission.approved_cents or 0) // n_parts,
        seed=part.seed,
        starts_at=begins_at,
        exposure=str(human.get("exposure", "task")),
        simulated=submission.simulated,
        max_assignments=int(human.get("ratings_per_instance", 1)),
    )


def _remember(
    submission: Submission, campaigns: Sequence[Campaign], planned: Sequence[Part]
) -> None:
    evaluation, new = HumanEvaluation.objects.get_or_create(
        submission=submission,
        defaults={
            "task": submission.task,
            "campaign": campaigns[0],
            "design": submission.task.human["design"],
            "n_instances": len(planned[0].judged),
            "seed": planned[0].seed,
        },
    )
    if not new:
        raise lifecycle.LostRace
    SeparateCampaign.objects.bulk_create(
        [
            SeparateCampaign(
                evaluation=evaluation,
                campaign=campaign,
                criterion=next(iter(p.criteria)),
            )
            for campaign, p in zip(campaigns[1:], planned[1:], strict=True)
        ]
    )
    for campaign, part in zip(campaigns, planned, strict=True):
        item_of = dict(campaign.items.values_list("key", "pk"))
        items.remember(evaluation, item_of, part.judged)
