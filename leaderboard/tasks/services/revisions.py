"""Change a loaded task, with author and time, and never so that scores mix."""

import json
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from crowd import hit_templates
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.states import WAY_BACK, State
from leaderboard.tasks.config import TaskConfig, read_task
from leaderboard.tasks.config.differences import HUMAN, differences, incomparable
from leaderboard.tasks.models import Task, TaskRevision

# Before the first question is asked.
_BEFORE = (State.REQUESTED, State.DECLINED, State.WITHDRAWN)


def begin(task: Task, *, by: Account | None = None) -> None:
    """Store a task's first revision: its task.toml at loading."""
    TaskRevision.objects.get_or_create(
        task=task,
        number=1,
        defaults={"config": task.config, "by_id": by.pk if by else None},
    )


@transaction.atomic
def revise(
    task: Task,
    document: Mapping[str, Any],
    *,
    by: Account | None = None,
    because: str = "",
) -> TaskRevision | None:
    """Store a changed task.toml as a revision; None if its meaning is the same.

    Raises ``incomparable`` if people have answered already and the board would mix
    scores from before and after.
    """
    # Two changes at once get two numbers.
    Task.objects.select_for_update().get(pk=task.pk)
    old, new = task.configuration, _read(document)
    changes = differences(old, new)
    if not changes:
        return None
    apart = incomparable(changes, old, new, asked_by(task))
    if apart:
        raise GenieError(
            f"People have already been asked about {task.title}, and a change of "
            f"{', '.join(apart)} would put scores on one board that cannot be compared. "
            "Load it under another slug as a new version.",
            code="incomparable",
            details={"keys": apart},
        )
    begin(task)
    return TaskRevision.objects.create(
        task=task,
        number=task.revisions.count() + 1,
        config=dict(document),
        changes=changes,
        by_id=by.pk if by else None,
        because=because[:500],
    )


def _read(document: Mapping[str, Any]) -> TaskConfig:
    # As the row is read: dates and similar values are stored as texts.
    return read_task(json.loads(json.dumps(document)), hit_templates.known()).config


def asked_by(task: Task) -> set[str]:
    """Return the tables of task.toml by which people have been asked already."""
    of_task = HumanEvaluation.objects.filter(task=task)
    # withdrawn submissions can return to the board
    back = of_task.filter(
        state=State.WITHDRAWN,
        campaigns__isnull=False,
        submission__events__state=State.WITHDRAWN,
        submission__events__at__gt=timezone.now() - WAY_BACK,
    )
    rows = of_task.filter(~Q(state__in=_BEFORE) | Q(pk__in=back.values("pk")))
    return {
        HUMAN if strategy == HumanEvaluation.Strategy.SINGLE else strategy
        for strategy in rows.order_by().values_list("strategy", flat=True).distinct()
    }
