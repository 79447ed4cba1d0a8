"""Requests for human evaluations; staff approve their cost."""

from collections.abc import Iterable, Sequence

from django.db.models import Count, Q, QuerySet

from genie.lib.errors import GenieError
from leaderboard.designs.base import document_name
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    HumanEvaluation,
)
from leaderboard.submissions.models import Submission
from leaderboard.tasks.drafts.documents import whole_first
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.selectors import CLOSED


def requested(
    strategy: str,
    systems: Sequence[Submission],
    *,
    by: int,
    design: str,
    n_instances: int,
    seed: int = 0,
    page_by: str = "",
) -> HumanEvaluation:
    """Create the request within a transaction; a seed from its owner is set later.

    Raises GenieError ``imported-task`` if no workers are asked here,
    ``unusable-question`` if this number of instances would cut a document.
    """
    if systems[0].task.imported:
        raise GenieError(CLOSED, code="imported-task")
    _refuse_cut(systems, page_by, n_instances)
    evaluation = HumanEvaluation.objects.create(
        task=systems[0].task,
        strategy=strategy,
        design=design,
        n_instances=n_instances,
        seed=seed,
        simulated=any(system.simulated for system in systems),
        requested_by_id=by,
    )
    EvaluatedSystem.objects.bulk_create(
        [
            EvaluatedSystem(evaluation=evaluation, submission=system, position=position)
            for position, system in enumerate(systems)
        ]
    )
    return evaluation


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
