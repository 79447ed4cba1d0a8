"""Several systems side by side (RankME): asking for it, its price, the decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from crowd.pricing import Quote
from crowd.pricing import quote as price
from crowd.selectors.progress import campaign_progress
from crowd.services import fund, run
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.designs.base import SLOTS
from leaderboard.models import (
    EvaluatedSystem,
    Instance,
    JointEvaluation,
    Submission,
    Task,
)
from leaderboard.selectors.campaigns import campaigns_of
from leaderboard.selectors.sight import ON_BOARD
from leaderboard.services import asking, qualification
from leaderboard.services import decisions_on_several as decisions
from leaderboard.services.steps_of_several import retry as again

State = JointEvaluation.State
JOB = "leaderboard.jobs.judge_together"
TABLE = "joint"
MOST_SYSTEMS = 8
MOST_WORKERS = 9


def criteria_of(task: Task) -> dict[str, str]:
    """Give the questions that joint evaluations of the task can ask."""
    asked = asking.human_of(task, TABLE)["criteria"]
    return {str(key): str(text) for key, text in asked.items()}


def human_for(joint: JointEvaluation) -> dict[str, Any]:
    """Give how this evaluation asks: the task's way, with the criteria chosen here."""
    every = criteria_of(joint.task)
    chosen = {name: every[name] for name in joint.criteria if name in every}
    return {**asking.human_of(joint.task, TABLE), "criteria": chosen}


@transaction.atomic
def request(
    systems: Sequence[Submission],
    *,
    by: Account,
    criteria: Sequence[str] = (),
    n_instances: int = 0,
    n_workers: int = 1,
) -> JointEvaluation:
    """Note that somebody wants to know; staff approve what it costs."""
    _check_systems(systems)
    task = systems[0].task
    known = criteria_of(task)
    chosen = list(criteria) or list(known)
    n = n_instances or task.sample_size
    problems = [
        (
            not set(chosen) <= set(known),
            f"{task.title} has the criteria {', '.join(known)}",
        ),
        (
            not 1 <= n <= task.n_instances,
            f"there are 1 to {task.n_instances:,} instances",
        ),
        (
            not 1 <= n_workers <= MOST_WORKERS,
            f"1 to {MOST_WORKERS} workers can rate an instance",
        ),
    ]
    for wrong, sentence in problems:
        if wrong:
            raise GenieError(
                f"This joint evaluation is not possible: {sentence}.",
                code="unusable-question",
            )
    made = JointEvaluation.objects.create(
        task=task,
        design=str(asking.human_of(task, TABLE)["design"]),
        criteria=chosen,
        n_instances=n,
        n_workers=n_workers,
        seed=0,
        simulated=systems[0].simulated,
        requested_by_id=by.pk,
    )
    made.seed = seed_for("joint evaluation", made.pk, *(one.pk for one in systems))
    made.save(update_fields=["seed"])
    EvaluatedSystem.objects.bulk_create(
        [
            EvaluatedSystem(joint=made, submission=one, position=position)
            for position, one in enumerate(systems)
        ]
    )
    return made


def quote(joint: JointEvaluation) -> Quote:
    """Price a joint evaluation, to the cent; separate criteria are priced together."""
    human = human_for(joint)
    n_campaigns = len(asking.separate(human))
    tests = sum(asking.n_test_questions(human, joint.n_instances))
    return price(
        platform=str(human.get("platform", "selfhosted")),
        reward_cents=int(human["reward_cents"]),
        n_items=n_campaigns * joint.n_instances,
        n_test_questions=n_campaigns * tests,
        ratings_per_item=joint.n_workers,
        repost_share=float(human.get("repost_share", 0.1)),
        max_assignments=joint.n_workers,
    )


def commitment_key(pk: int) -> str:
    return f"joint:{pk}"


def keys_of(joint: JointEvaluation) -> list[str]:
    """Name the campaigns; each has a commitment of the same name."""
    key = commitment_key(joint.pk)
    rest = asking.separate(human_for(joint))[1:]
    return [key, *(f"{key}:{next(iter(criteria))}" for criteria in rest)]


@transaction.atomic
def approve(pk: int, *, by: Account, reason: str = "") -> JointEvaluation:
    """Set the money aside and send the work out; one approval counts."""
    found = decisions.locked_to_approve(JointEvaluation, pk)
    qualification.check_platform_of(found.task, human_for(found))
    cost = quote(found).total_cents
    keys = keys_of(found)
    for place, key in enumerate(keys):
        cents = share_of(cost, len(keys), place)
        fund.commit(key=key, pool=found.task.slug, amount_cents=cents, by=by)
    decisions.decide(found, State.APPROVED, by, reason, approved_cents=cost)
    jobs.enqueue(JOB, pk=pk)
    return found


def share_of(cents: int, n: int, place: int) -> int:
    """Split cents into n parts that add up to them; the first ones get the odd cents.

    Examples
    --------
    >>> [share_of(10, 3, place) for place in range(3)]
    [4, 3, 3]
    """
    return cents // n + (place < cents % n)


@transaction.atomic
def decline(pk: int, *, by: Account, reason: str) -> JointEvaluation:
    """Say no, with the reason that who asked will read."""
    return decisions.decline(JointEvaluation, pk, by=by, reason=reason)


@transaction.atomic
def stop(pk: int, *, by: Account, reason: str) -> JointEvaluation:
    """End it by hand: no more work, what was done stays paid."""
    found = decisions.stop(JointEvaluation, pk, by=by, reason=reason)
    if found.evaluation is None:
        fund.release(commitment_key(pk))
        return found
    for campaign in campaigns_of(found.evaluation):
        run.stop(campaign.pk, by=by, reason=reason)
        fund.settle(campaign.key, campaign_progress(campaign).spent_cents)
    return found


def shared_instances(
    task: Task, systems: Sequence[Submission], *, n: int, after: int = 0
) -> list[Instance]:
    """Give instances that all systems have outputs for, in the task's random order."""
    rows = task.instances.order_by("sample_rank")
    for one in systems:
        rows = rows.filter(predictions__submission=one)
    return list(rows[after : after + n])


def retry(pk: int, *, by: Account, reason: str = "") -> JointEvaluation:
    """Let a step that failed run again; nothing but that changes."""
    del by, reason  # the log of the admin keeps both
    again(JointEvaluation, pk, job=JOB)
    return JointEvaluation.objects.get(pk=pk)


def _check_systems(systems: Sequence[Submission]) -> None:
    most = min(MOST_SYSTEMS, len(SLOTS))
    if not 2 <= len(systems) <= most:
        raise GenieError(
            f"Choose 2 to {most} systems, not {len(systems)}.",
            code="wrong-number-of-systems",
        )
    if len({one.pk for one in systems}) < len(systems):
        raise GenieError("A system is named twice.", code="same-submission")
    if len({one.task_id for one in systems}) > 1:
        raise GenieError(
            "The submissions are for different tasks.", code="different-tasks"
        )
    if len({one.simulated for one in systems}) > 1:
        raise GenieError(
            "Some submissions are rated by simulated annotators and others by people.",
            code="not-comparable",
        )
    for one in systems:
        if one.state not in ON_BOARD:
            raise GenieError(
                f"{one.system_name} is {one.get_state_display()}; its "
                "predictions must be validated and measured first.",
                code="not-comparable",
            )
