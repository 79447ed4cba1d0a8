from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import migrations

from genie.lib.unguessable import seed_for

# What an evaluation has to do with a submission in this state.
OF_SUBMISSION = {
    "MEASURED": "REQUESTED",
    "DECLINED": "DECLINED",
    "APPROVED": "APPROVED",
    "ANNOTATING": "ANNOTATING",
    "STOPPED": "STOPPED",
    "ANNOTATED": "ANNOTATED",
    "SCORED": "SCORED",
    "PUBLISHED": "SCORED",
    "WITHDRAWN": "WITHDRAWN",
}
SHARED = (
    "simulated",
    "decided_by_id",
    "decision_reason",
    "approved_cents",
    "n_attempts",
    "failure",
    "failure_permanent",
)
# The step that each state is left by.
STEPS = {"APPROVED": "launch", "ANNOTATING": "collect", "SCORED": "publish"}


def carry_over(apps: Any, schema_editor: Any) -> None:
    """Give each submission, comparison and joint evaluation its evaluation's row."""
    _submissions(apps)
    _comparisons(apps)
    _joint(apps)
    _campaigns(apps)


def _submissions(apps: Any) -> None:
    submission_model = apps.get_model("leaderboard", "Submission")
    model = apps.get_model("leaderboard", "HumanEvaluation")
    systems = apps.get_model("leaderboard", "EvaluatedSystem")
    launched = dict(
        model.objects.exclude(old_submission=None).values_list("old_submission", "pk")
    )
    rows = submission_model.objects.select_related("task").order_by("pk")
    for one in rows.iterator(chunk_size=500):
        undecided = one.state == "WITHDRAWN" and one.decided_by_id is None
        if one.pk not in launched and (
            one.state not in OF_SUBMISSION or undecided
        ):
            continue
        fields = {
            **_shared(one),
            "failed_step": one.failed_step,
            "strategy": "single",
            "state": OF_SUBMISSION[one.state],
            "requested_by_id": one.owner_id,
            "start_now": one.start_now,
            "finished_at": one.published_at,
        }
        if one.pk in launched:
            pk = launched[one.pk]
            model.objects.filter(pk=pk).update(**fields)
        else:
            # nothing is launched by it: what the task says by then holds
            human = one.task.config.get("human", {})
            sample_size = int(human.get("sample_size", 0))
            pk = model.objects.create(
                task_id=one.task_id,
                design=human.get("design", ""),
                n_instances=min(sample_size, one.task.n_instances),
                seed=seed_for("campaign", f"submission:{one.pk}"),
                **fields,
            ).pk
            model.objects.filter(pk=pk).update(created_at=one.created_at)
        submission_model.objects.filter(pk=one.pk).update(human_evaluation_id=pk)
        systems.objects.create(evaluation_id=pk, submission_id=one.pk, position=0)


def _comparisons(apps: Any) -> None:
    model = apps.get_model("leaderboard", "Comparison")
    systems = apps.get_model("leaderboard", "EvaluatedSystem")
    for one in model.objects.select_related("task").order_by("pk"):
        human = {"design": "two-choice", **one.task.config.get("comparison", {})}
        pk = _of_several(apps, one, "comparison", human["design"], one.max_pairs)
        for position, submission in enumerate((one.a_id, one.b_id)):
            systems.objects.create(
                evaluation_id=pk, submission_id=submission, position=position
            )


def _joint(apps: Any) -> None:
    model = apps.get_model("leaderboard", "JointEvaluation")
    systems = apps.get_model("leaderboard", "EvaluatedSystem")
    for one in model.objects.order_by("pk"):
        pk = _of_several(apps, one, "joint", one.design, one.n_instances)
        systems.objects.filter(joint_id=one.pk).update(evaluation_id=pk)


def _of_several(apps: Any, one: Any, strategy: str, design: str, n: int) -> int:
    """Write what an evaluation of several systems held into the row that it points to."""
    model = apps.get_model("leaderboard", "HumanEvaluation")
    state = "ANNOTATING" if one.state == "RUNNING" else one.state
    fields = {
        **_shared(one),
        "failed_step": STEPS.get(state, "") if one.failure else "",
        "strategy": strategy,
        "state": state,
        "requested_by_id": one.requested_by_id,
        "finished_at": one.finished_at,
        "seed": one.seed,
    }
    pk: int = one.evaluation_id or model.objects.create(
        task_id=one.task_id, design=design, n_instances=n, **fields
    ).pk
    model.objects.filter(pk=pk).update(created_at=one.created_at, **fields)
    type(one).objects.filter(pk=one.pk).update(evaluation_id=pk)
    return pk


def _shared(one: Any) -> dict[str, Any]:
    return {name: getattr(one, name) for name in SHARED}


def _campaigns(apps: Any) -> None:
    """Put the first campaign and those of separate criteria into one relation."""
    served = apps.get_model("leaderboard", "EvaluationCampaign").objects
    evaluations = apps.get_model("leaderboard", "HumanEvaluation").objects
    rows = evaluations.exclude(campaign=None).select_related("campaign__hit_type")
    for evaluation in rows.order_by("pk").iterator(chunk_size=500):
        for position, (campaign, criterion) in enumerate(_in_order(evaluation)):
            served.create(
                evaluation=evaluation,
                campaign_id=campaign,
                criterion=criterion,
                position=position,
            )


def _in_order(evaluation: Any) -> Iterator[tuple[int, str]]:
    others = list(evaluation.separate_campaigns.order_by("pk"))
    criteria = evaluation.campaign.hit_type.criteria
    yield evaluation.campaign_id, next(iter(criteria), "") if others else ""
    yield from ((other.campaign_id, other.criterion) for other in others)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0019_one_machine_for_evaluations")]

    operations = [migrations.RunPython(carry_over, elidable=True)]
