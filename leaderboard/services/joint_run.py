"""A joint evaluation at work: campaigns go out, answers come in, results are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from crowd.models import Campaign
from crowd.services import fund, run, watch
from crowd.services.build import build_campaign
from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from leaderboard.models import (
    HumanEvaluation,
    Instance,
    JointEvaluation,
    Prediction,
    SeparateCampaign,
    Submission,
)
from leaderboard.selectors.campaigns import campaigns_of
from leaderboard.services import asking, closing, items, joint, qualification
from leaderboard.services.campaign_titles import campaign_title
from leaderboard.services.items import Entry, JudgedSpec
from leaderboard.services.joint_results import results_of
from leaderboard.services.steps_of_several import attempt
from quality.services import grade, inject, judge

State = JointEvaluation.State
Texts = dict[tuple[int, int], str]


@dataclass(frozen=True)
class Part:
    """One campaign before it is built."""

    key: str
    budget_cents: int
    criteria: dict[str, str]
    seed: int
    judged: list[JudgedSpec]
    hidden: list[inject.HiddenItem]


def step(pk: int) -> None:
    """Do what comes next; nothing while people are at work."""
    attempt(JointEvaluation, _step, pk)


def _step(pk: int) -> None:
    with transaction.atomic():
        found = _locked(pk)
        if found.state == State.APPROVED:
            _launch(found)
            return
    # Judging and counting take their time: nobody waits for a lock meanwhile.
    if found.state == State.SCORED or (
        found.state == State.RUNNING and _all_is_in(found)
    ):
        _score(found)


def _locked(pk: int) -> JointEvaluation:
    return (
        JointEvaluation.objects.select_for_update(of=("self",))
        .select_related("task", "evaluation__campaign__hit_type")
        .get(pk=pk)
    )


def systems_of(found: JointEvaluation) -> list[Submission]:
    """Give the systems in their order."""
    return [row.submission for row in found.systems.select_related("submission")]


def _launch(found: JointEvaluation) -> None:
    qualification.ensure(found.task)
    planned = _parts(found)
    # The task may ask in other campaigns now than when this was approved.
    fund.divide(joint.commitment_key(found.pk), [part.key for part in planned])
    campaigns = [_built(found, part, len(planned)) for part in planned]
    for campaign in campaigns:
        qualification.require_of(found.task, campaign)
    found.evaluation = HumanEvaluation.objects.create(
        task=found.task,
        campaign=campaigns[0],
        design=found.design,
        n_instances=len(planned[0].judged),
        seed=found.seed,
    )
    for campaign, part in zip(campaigns, planned, strict=True):
        if campaign != campaigns[0]:
            SeparateCampaign.objects.create(
                evaluation=found.evaluation,
                campaign=campaign,
                criterion=next(iter(part.criteria)),
            )
        item_of = dict(campaign.items.values_list("key", "pk"))
        items.remember(found.evaluation, item_of, part.judged)
        inject.place(campaign, part.hidden)
    found.state = State.RUNNING
    found.save(update_fields=["state", "evaluation"])
    run.start_due()


def _all_is_in(found: JointEvaluation) -> bool:
    if found.evaluation is None:
        return False
    campaigns = campaigns_of(found.evaluation)
    for campaign in campaigns:
        grade.grade(campaign)
        watch.watch(campaign)
    judge.judge(
        campaigns[0].pool,
        simulated=campaigns[0].simulated,
        noisy_below=asking.noisy_below(found.task.human),
    )
    with transaction.atomic():
        if _locked(found.pk).state != State.RUNNING or not closing.close(campaigns):
            return False
        if all(campaign.publish_partial for campaign in closing.stopped(campaigns)):
            return True
        JointEvaluation.objects.filter(pk=found.pk).update(
            state=State.STOPPED, finished_at=timezone.now()
        )
        return False


def _score(found: JointEvaluation) -> None:
    """Write the results from the ratings that count now."""
    if found.evaluation is None:
        return
    seen_at = timezone.now()
    results = results_of(found.evaluation, systems_of(found), seed=found.seed)
    with transaction.atomic():
        written = JointEvaluation.objects.filter(
            pk=found.pk, state__in=[State.RUNNING, State.SCORED]
        ).update(
            results=results,
            state=State.SCORED,
            failure="",
            finished_at=found.finished_at or seen_at,
        )
        if written:
            HumanEvaluation.objects.filter(pk=found.evaluation.pk).update(
                scored_at=seen_at
            )


def _parts(found: JointEvaluation) -> list[Part]:
    human, systems = joint.human_for(found), systems_of(found)
    judged = joint.shared_instances(found.task, systems, n=found.n_instances)
    if not judged:
        raise GenieError(
            "The systems have no instance in common.", code="nothing-to-compare"
        )
    n_tests = sum(human.n_test_questions(found.n_instances))
    spare = joint.shared_instances(
        found.task, systems, n=4 * n_tests, after=len(judged)
    )
    spare = [one for one in spare if asking.has_references(one)]
    if len(spare) < n_tests + 1:
        again = [one for one in reversed(judged) if asking.has_references(one)]
        spare += again[: 4 * n_tests]
    texts = _texts(systems, [*judged, *spare])
    keys = joint.keys_of(found)
    return [
        _part(
            found,
            criteria,
            key,
            joint.share_of(found.approved_cents or 0, len(keys), place),
            judged,
            spare,
            texts,
        )
        for place, (criteria, key) in enumerate(
            zip(human.separate(), keys, strict=True)
        )
    ]


def _part(
    found: JointEvaluation,
    criteria: dict[str, str],
    key: str,
    budget_cents: int,
    judged: Sequence[Instance],
    spare: Sequence[Instance],
    texts: Texts,
) -> Part:
    human, systems = joint.human_for(found), systems_of(found)
    seed = seed_from("campaign", key, found.seed)
    specs = [
        items.judged(
            found.task,
            human,
            instance,
            [Entry(texts[one.pk, instance.pk], one.pk) for one in systems],
            campaign_key=key,
            seed=seed,
        )
        for instance in judged
    ]
    outputs = {row.pk: [texts[one.pk, row.pk] for one in systems] for row in spare}
    hidden = items.hidden_line_ups(
        found.task,
        human,
        criteria,
        items.line_ups(found.task, human, spare, outputs=outputs) if spare else [],
        campaign_key=key,
        n_items=found.n_instances,
        seed=seed,
    )
    return Part(key, budget_cents, criteria, seed, specs, hidden)


def _built(found: JointEvaluation, part: Part, n_parts: int) -> Campaign:
    human = joint.human_for(found)
    return build_campaign(
        key=part.key,
        pool=found.task.slug,
        title=campaign_title(
            found.task.title,
            [one.system_name for one in systems_of(found)],
            detail=next(iter(part.criteria)) if n_parts > 1 else "",
        ),
        hit_type=asking.hit_type_of(found.task, human, part.criteria),
        items=[one.spec for one in part.judged] + [one.spec for one in part.hidden],
        platform=human.platform,
        budget_cents=part.budget_cents,
        seed=part.seed,
        starts_at=timezone.now(),
        exposure=human.exposure,
        simulated=found.simulated,
        max_assignments=found.n_workers,
    )


def _texts(systems: Sequence[Submission], instances: Sequence[Instance]) -> Texts:
    rows = Prediction.objects.filter(
        submission__in=systems, instance__in=instances
    ).values_list("submission_id", "instance_id", "text")
    return {(submission, instance): text for submission, instance, text in rows}
