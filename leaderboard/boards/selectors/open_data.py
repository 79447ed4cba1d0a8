from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

from genie.lib.unguessable import name_for
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.campaigns import evaluation_of
from leaderboard.evaluation.selectors.system_ratings import all_system_ratings_of
from leaderboard.metric_runs.models import MetricResult
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import inside, public
from leaderboard.tasks.models import Instance, Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Viewer = AbstractBaseUser | AnonymousUser


def scores(
    task: Task, viewer: Viewer, *, at: datetime | None = None, superseded: bool = False
) -> QuerySet[Score]:
    """Return a task's scores as the viewer sees them: current, of a moment, or all."""
    published = public("submission__") & Q(submission__published_at__isnull=False)
    may_see = published | inside(viewer, "submission__")
    rows = Score.objects.filter(may_see, submission__task=task)
    if at is not None:
        rows = rows.filter(created_at__lte=at)
        rows = rows.filter(Q(superseded_at=None) | Q(superseded_at__gt=at))
    elif not superseded:
        rows = rows.filter(superseded_at=None)
    return rows.select_related("submission", "evaluation").order_by("pk")


def scored_criteria(task: Task) -> list[str]:
    rows = Score.objects.filter(submission__task=task).order_by("criterion")
    stored = rows.values_list("criterion", flat=True).distinct()
    return list(dict.fromkeys([*task.human.criteria, *stored]))


def metric_results(task: Task, viewer: Viewer) -> QuerySet[MetricResult]:
    may_see = public("submission__") | inside(viewer, "submission__")
    rows = MetricResult.objects.filter(may_see)
    return (
        rows.filter(submission__task=task)
        .select_related("submission")
        .defer("per_instance", "details")
        .order_by("pk")
    )


def judgments(submission: Submission) -> list[dict[str, Any]]:
    """Return every rating of a published submission, and whether it counts.

    Workers have pseudonyms specific to this task, made with the site's secret: they
    only show which ratings have the same author. Test questions are left out.
    """
    evaluation = evaluation_of(submission)
    if evaluation is None:
        return []
    ratings = all_system_ratings_of([evaluation.pk])
    ratings = ratings[ratings["submission"] == submission.pk]
    ids = dict(
        Instance.objects.filter(task=submission.task_id).values_list(
            "position", "instance_id"
        )
    )
    # sorted by instance, not by time: the order of arrival could identify workers
    ordered = ratings.sort_values(
        ["criterion", "instance", "worker"], kind="stable", ignore_index=True
    )
    return [
        {
            "instance": ids.get(int(row["instance"]), ""),
            "worker": pseudonym(submission, int(row["worker"])),
            "criterion": str(row["criterion"]),
            "value": float(row["value"]),
            "counts": not row["why_not"],
        }
        for row in ordered.to_dict("records")
    ]


def pseudonym(submission: Submission, worker_pk: int) -> str:
    """Return a worker's pseudonym, which cannot be linked to other tasks."""
    return "j-" + name_for("judgments", submission.task.slug, worker_pk)[:10]
