from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Count

from leaderboard.boards.selectors.columns import field_of, main_criterion
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task


@dataclass(frozen=True)
class System:
    pk: int
    name: str
    simulated: bool
    mean: float


def ranked_pks(task: Task) -> list[int]:
    """Return the public scored submissions of a board, best first."""
    field = field_of(task, frozenset())
    order = np.lexsort((-field.pk, -field.mean))
    return [int(field.pk[i]) for i in order if field.ranked[i]]


def covers_of(task: Task) -> list[str]:
    rows = Score.objects.filter(
        public("submission__"),
        submission__task=task,
        submission__published_at__isnull=False,
        criterion=main_criterion(task),
        superseded_at=None,
    )
    counted = rows.order_by().values("covers").annotate(n=Count("pk"))
    return list(counted.order_by("-n", "covers").values_list("covers", flat=True))


def systems(task: Task, pks: Sequence[int]) -> list[System]:
    """Return these systems in this order, without those that have no public score."""
    rows = Score.objects.filter(
        public("submission__"),
        submission__in=pks,
        submission__task=task,
        criterion=main_criterion(task),
        superseded_at=None,
    ).values_list(
        "submission_id",
        "submission__system_name",
        "submission__simulated",
        "mean",
    )
    found = {row[0]: System(*row) for row in rows}
    return [found[pk] for pk in pks if pk in found]
