"""More inputs of a running study, with each system's outputs for them."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F

from crowd.campaigns.services.run import HERE, refresh_share
from crowd.hits.models import Campaign
from crowd.hits.selectors import unit_cents
from crowd.hits.services.build import extend
from crowd.money.services import budgets
from genie.accounts.staff import staff_may
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.evaluation import campaigns, decide, machine
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.metric_runs.models import MetricResult, MetricRun
from leaderboard.studio.models import Draft
from leaderboard.studio.services import make
from leaderboard.studio.services.look import Files
from leaderboard.submissions.models import Prediction
from leaderboard.submissions.states import State
from leaderboard.tasks.intake.join import Item
from leaderboard.tasks.intake.roles import CONVERSATION, ID
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.load import add_instances

MAY_WORK = "crowd.change_campaign"


def look(draft: Draft, found: Files, by: Any) -> dict[str, Any]:
    """Compare a draft's files with the study, without storing."""
    task, material = Task.objects.filter(slug=draft.slug).first(), found.material
    may = task and not task.imported and staff_may(by, MAY_WORK, task.slug)
    if task is None or not may:
        raise PermissionDenied
    if material is None:
        return {}
    rows = task.instances.values_list("instance_id", "fields")
    stored = {key: frozenset(fields.items()) for key, fields in rows}
    key_of = {texts: key for key, texts in stored.items()}
    has_ids = any(use.role == ID for use in found.uses)
    new: dict[str, Item] = {}
    known, differ = list[str](), list[str]()
    for item in material.items:
        texts = frozenset(item.fields.items())
        key = item.id if has_ids else key_of.get(texts) or str(len(stored) + 1)
        if key in stored:
            (known if stored[key] == texts else differ).append(key)
        else:
            stored[key], new[key] = texts, item
    systems = task.submissions.filter(own_state=make.State.MEASURED)
    names = {one.system_name for one in systems}
    own = Campaign.objects.filter(pool=task.slug).select_related("hit_type")
    running = own.filter(asked__evaluation__state=State.ANNOTATING)
    each = sum((one.answers_per_hit or 0) * unit_cents(one) for one in running)
    cents = len(new) * each
    under_way = task.submissions.filter(own_state__in=make.UNDER_WAY)
    starts = task.human_evaluations.filter(state=State.APPROVED)
    talks = material.output_format == CONVERSATION
    checks: tuple[tuple[Any, str], ...] = (
        (differ, "The study already has different inputs with the ids {}."),
        (
            {*task.field_labels} ^ {*material.labels},
            "Only one of the two has the inputs {}.",
        ),
        (names - {*material.systems}, "The files lack the outputs of {}."),
        (talks != task.holds_conversations, "Only some outputs are conversations."),
        (own and not running, "The study is over. Create a new version of the task."),
        (under_way or starts, "Wait until all systems have been measured and posted."),
        (
            running.exclude(platform=HERE),
            "You cannot add inputs to work on other platforms.",
        ),
        (
            cents and not decide.may_decide(by),
            "Only staff who may approve costs can add inputs.",
        ),
    )
    return {
        "new": new,
        "known": known,
        "others": {*material.systems} - names,
        "systems": systems,
        "cents": cents,
        # differs on a page that was sent twice, or is old
        "shown": f"{len(new)} {cents}",
        "problems": [
            sentence.format(", ".join(sorted(wrong)) if "{" in sentence else "")
            for wrong, sentence in checks
            if wrong
        ],
    }


@transaction.atomic
def add(draft: Draft, found: Files, *, by: Any, shown: str) -> Task:
    """Store what was shown; ratings, ids and the order of what was there stay."""
    task = Task.objects.select_for_update().get(slug=draft.slug)
    more, material = look(draft, found, by), found.material
    if material is None or more["problems"] or shown != more["shown"]:
        raise GenieError(
            "The study or the files have changed, so the inputs were not added. Check "
            "them again.",
            code="inputs-changed",
        )
    new: dict[str, Item] = more["new"]
    instances = add_instances(task, new, by=by)
    Prediction.objects.bulk_create(
        Prediction(submission=one, instance=instance, text=outputs[item.id])
        for one in more["systems"]
        for outputs in [material.systems[one.system_name]]
        for instance, item in zip(instances, new.values(), strict=True)
    )
    asked = task.human_evaluations.filter(state__in=[State.REQUESTED, State.ANNOTATING])
    for one in asked.order_by("pk"):
        _extend(one.pk, len(new), by)
    # metrics are over all outputs
    MetricRun.objects.filter(task=task).delete()
    MetricResult.objects.filter(submission__task=task).delete()
    jobs.enqueue("leaderboard.jobs.catch_up_metrics", task=task.pk)
    return task


def _extend(pk: int, n: int, by: Any) -> None:
    Comparison.objects.filter(pk=pk).update(max_pairs=F("max_pairs") + n)
    JointEvaluation.objects.filter(pk=pk).update(n_asked=F("n_asked") + n)
    HumanEvaluation.objects.filter(pk=pk).update(n_instances=F("n_instances") + n)
    evaluation = machine.lock(pk)
    # a comparison sends out its pairs wave by wave
    if evaluation.state == State.REQUESTED or isinstance(evaluation, Comparison):
        return
    for part in strategy_of(evaluation).plan(evaluation):
        _grow(evaluation, part, by)


def _grow(evaluation: HumanEvaluation, part: Any, by: Any) -> None:
    rows = Campaign.objects.select_for_update(of=("self",)).select_related("hit_type")
    campaign = rows.get(key=part.key)
    asked = set(campaign.items.values_list("key", flat=True))
    new = [one for one in part.judged if one.spec.key not in asked]
    each = campaign.answers_per_hit or 1
    budgets.add(campaign, len(new) * each * unit_cents(campaign), by)
    extend(campaign.pk, [one.spec for one in new], max_assignments=each)
    campaigns.remember(evaluation, campaign, new)
    refresh_share(campaign)
