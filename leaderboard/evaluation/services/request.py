"""Requests for human evaluations; staff approve their cost."""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, cast

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from crowd.pricing import share_of
from genie.lib.errors import GenieError
from genie.lib.runner import CLEARED
from genie.lib.unguessable import seed_for
from leaderboard.designs.base import document_name
from leaderboard.evaluation.models.human_evaluation import (
    AnchorItem,
    EvaluatedSystem,
    HumanEvaluation,
    Row,
    Score,
    Subject,
)
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import is_withdrawn
from leaderboard.tasks.drafts.documents import whole_first
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.selectors import CLOSED
from leaderboard.tasks.services.configuration import campaign_keys, commitment_key
from quality.test_questions.models import TestCheck

State = HumanEvaluation.State


def create_request(
    systems: Sequence[Submission],
    model: type[Row],
    *,
    by: int,
    design: str,
    n_instances: int,
    seed: int = 0,
    page_by: str = "",
    **fields: Any,
) -> Row:
    """Create the request within a transaction; a seed from its owner is set later.

    Raises GenieError ``imported-task`` if no workers are asked here,
    ``unusable-question`` if this number of instances would cut a document.
    """
    if systems[0].task.imported:
        raise GenieError(CLOSED, code="imported-task")
    _refuse_cut(systems, page_by, n_instances)
    new = model._default_manager.create(
        task=systems[0].task,
        design=design,
        n_instances=n_instances,
        seed=seed,
        simulated=any(system.simulated for system in systems),
        requested_by_id=by,
        **fields,
    )
    EvaluatedSystem.objects.bulk_create(
        [
            EvaluatedSystem(evaluation=new, submission=system, position=position)
            for position, system in enumerate(systems)
        ]
    )
    return cast("Row", new)


@transaction.atomic
def join(submissions: Sequence[Submission]) -> None:
    """Make one request of several: approved once, with one price, and stopped once.

    Systems that are withdrawn or decided on keep theirs.
    """
    # Two may join requests that share systems: one after the other.
    Task.objects.select_for_update(no_key=True).get(pk=submissions[0].task_id)
    rows = Submission.objects.exclude(is_withdrawn())
    # A submission is locked before its evaluation.
    chosen = rows.select_for_update(of=("self",), no_key=True).order_by("pk")
    locked = chosen.filter(human_evaluation__submissions__in=submissions)
    systems = rows.filter(pk__in=[one.pk for one in locked])
    asked = list(
        HumanEvaluation.objects.select_for_update()
        .filter(pk__in=systems.values("human_evaluation"), state=State.REQUESTED)
        .order_by("pk")
    )
    if len(asked) < 2:
        return
    EvaluatedSystem.objects.filter(evaluation__in=asked).delete()
    joined = rows.filter(human_evaluation__in=asked)
    EvaluatedSystem.objects.bulk_create(
        EvaluatedSystem(evaluation=asked[0], submission=system, position=position)
        for position, system in enumerate(joined.order_by("pk"))
    )
    for one in asked:
        _measure_again(one)
    joined.update(human_evaluation=asked[0])
    HumanEvaluation.objects.filter(pk__in=[one.pk for one in asked[1:]]).delete()


def part_with(submission: Submission) -> HumanEvaluation:
    """Return a submission's evaluation, separate from those of other systems, locked.

    It takes its campaigns, its results and its share of the money along.
    """
    rows = HumanEvaluation.objects.select_for_update(of=("self",))
    whole = rows.get(submissions=submission)
    systems = whole.alone
    if len(systems) == 1:
        return whole
    own, campaigns = copy(whole), whole.campaigns.filter(submission=submission)
    own.pk, own._state.adding = None, True
    own.test_check = None
    key = commitment_key(submission.pk)
    own.seed = seed_for("campaign", key)
    rows.filter(pk=whole.pk).update(**CLEARED)
    if whole.approved_cents is not None:
        place = systems.index(submission)
        own.approved_cents = share_of(whole.approved_cents, len(systems), place)
        rows.filter(pk=whole.pk).update(
            approved_cents=whole.approved_cents - own.approved_cents
        )
    own.save()
    rows.filter(pk=own.pk).update(created_at=whole.created_at)
    Submission.objects.filter(pk=submission.pk).update(human_evaluation=own)
    whole.systems.filter(submission=submission).update(evaluation=own, position=0)
    for model in (Subject, AnchorItem):
        shown = model.objects.filter(item__campaign__in=campaigns.values("campaign"))
        shown.update(evaluation=own)
    Score.objects.filter(evaluation=whole, submission=submission).update(evaluation=own)
    if campaigns.update(evaluation=own):
        if check := whole.test_check:
            check.pk, check._state.adding = None, True
            check.save()
            rows.filter(pk=own.pk).update(test_check=check)
    elif whole.state == State.APPROVED:
        keys = campaign_keys(key, whole.task.human)
        whole.drawn_tests.filter(campaign_key__in=keys).delete()
    else:
        _measure_again(whole)
    return rows.get(pk=own.pk)


def _measure_again(evaluation: HumanEvaluation) -> None:
    evaluation.drawn_tests.all().delete()
    TestCheck.objects.filter(evaluation=evaluation).delete()


def shared_by(task: Task, systems: Sequence[Submission]) -> QuerySet[Instance]:
    # counted, because SQLite cannot join each of a hundred systems
    theirs = Count("predictions", filter=Q(predictions__submission__in=systems))
    return task.instances.annotate(n_outputs=theirs).filter(n_outputs=len(systems))


def document_names(page_by: str, instances: Iterable[Instance]) -> list[str]:
    return [document_name(page_by, row.instance_id, row.fields) for row in instances]


def _refuse_cut(systems: Sequence[Submission], page_by: str, n: int) -> None:
    if not page_by:
        return
    names = document_names(page_by, shared_by(systems[0].task, systems))
    whole = whole_first(names, n)[1]
    if n < len(names) and whole != n:
        raise GenieError(
            f"{n:,} instances would cut a document; choose {whole:,}, so that whole "
            "documents are judged.",
            code="unusable-question",
        )
