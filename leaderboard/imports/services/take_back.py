"""Delete an import with all of its rows, and the task if it was the only import."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError, QuerySet

from crowd.hits.models import HIT, Assignment, Campaign, Input, Item, Rating
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    EvaluationCampaign,
    HumanEvaluation,
    JointEvaluation,
    Score,
    ShownOutput,
    Subject,
)
from leaderboard.imports.models import Import
from leaderboard.imports.selectors import PLATFORM, key_of
from leaderboard.imports.services import campaigns
from leaderboard.imports.services.campaigns import ask_criteria, leave_out_inputs
from leaderboard.imports.services.write import score_imported
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.models import Task

Tell = Callable[[str, int, int], None]


def take_back(row: Import, tell: Tell = lambda what, done, of: None) -> bool:
    """Delete all rows of an import; return whether its task still exists.

    Rows of the task's other imports stay, and are scored again.

    Raises ``in-use`` if its systems are part of later evaluations; then no row is
    deleted.
    """
    task = row.task
    try:
        with transaction.atomic():
            # no import may run meanwhile, nor a second deletion
            Task.objects.select_for_update().filter(pk=task.pk).first()
            if not Import.objects.filter(pk=row.pk).exists():
                return Task.objects.filter(pk=task.pk).exists()
            brought = _brought(row)
            _judgments(row)
            _systems(task)

            other = task.imports.exclude(pk=row.pk).order_by("pk").first()
            HumanEvaluation.objects.filter(imported=row).update(imported=other)
            row.delete()
            if other:
                leave_out_inputs(task, brought)
                ask_criteria(task, campaigns.asked_hit_types(task))
            else:
                _task(task)
            Worker.objects.filter(platform=PLATFORM, assignments=None).delete()
    except ProtectedError as error:
        used = sorted({str(one._meta.verbose_name) for one in error.protected_objects})
        raise GenieError(
            f"This import cannot be taken back: its systems are used elsewhere "
            f"({', '.join(used)}).",
            code="in-use",
        ) from error
    if other:
        campaigns.count_instances(task)
        score_imported(task, tell)
    return other is not None


def _brought(row: Import) -> set[str]:
    judged = Subject.objects.filter(item__campaign__key__startswith=key_of(row.pk))
    ids = judged.values_list("instance__instance_id", flat=True).distinct()
    return {*ids, *row.said.get("unjudged", ())}


def _judgments(row: Import) -> None:
    own = Campaign.objects.filter(key__startswith=key_of(row.pk))
    pks = list(own.values_list("pk", flat=True))
    joint = JointEvaluation.objects.filter(imported=row)
    leaves: list[QuerySet[Any]] = [
        Rating.objects.filter(item__campaign__in=pks),
        ShownOutput.objects.filter(subject__item__campaign__in=pks),
        Subject.objects.filter(item__campaign__in=pks),
        Assignment.objects.filter(hit__campaign__in=pks),
        Item.objects.filter(campaign__in=pks),
        HIT.objects.filter(campaign__in=pks),
        EvaluationCampaign.objects.filter(campaign__in=pks),
        own,
        Score._base_manager.filter(evaluation__in=joint),
        joint,
    ]
    for rows in leaves:
        rows.delete()


def _systems(task: Task) -> None:
    bare = HumanEvaluation.objects.filter(
        task=task, imported__isnull=False, campaigns=None
    )
    evaluations = list(bare.values_list("pk", flat=True))
    systems = Submission.objects.filter(human_evaluation__in=evaluations)
    Score.objects.filter(evaluation__in=evaluations).delete()
    Score.objects.filter(submission__in=systems).delete()
    Prediction.objects.filter(submission__in=systems).delete()
    EvaluatedSystem.objects.filter(evaluation__in=evaluations).delete()
    systems.delete()
    HumanEvaluation.objects.filter(pk__in=evaluations).delete()


def _task(task: Task) -> None:
    Score._base_manager.filter(evaluation__task=task).delete()
    BoardFit.objects.filter(task=task).delete()
    Prediction.objects.filter(submission__task=task).delete()
    Input.objects.filter(scope=task.slug).delete()
    task.delete()
