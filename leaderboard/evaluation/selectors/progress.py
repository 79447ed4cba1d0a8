from collections.abc import Iterable

from django.db.models import Count, QuerySet

from crowd.hits.models import Assignment
from leaderboard.evaluation.models.human_evaluation import JudgedItem
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task

COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)


def n_judged(submissions: Iterable[int] | QuerySet[Submission]) -> dict[int, int]:
    """Count instances with a counting rating, without test questions; one query."""
    rows = (
        _judged_items(submissions)
        .order_by()
        .values_list("evaluation__submission")
        .annotate(n=Count("instance_id", distinct=True))
    )
    return dict(rows)


def any_judged(submissions: Iterable[int] | QuerySet[Submission]) -> bool:
    return _judged_items(submissions).exists()


def _judged_items(
    submissions: Iterable[int] | QuerySet[Submission],
) -> QuerySet[JudgedItem]:
    return JudgedItem.objects.filter(
        evaluation__submission__in=submissions,
        item__answers__assignment__state__in=COUNTED,
        # a replaced answer has been asked for again: counting both would exceed the
        # sample
        item__answers__assignment__replaced_at=None,
    )


def to_approve() -> QuerySet[Submission]:
    """Return submissions whose outputs staff may have rated one at a time."""
    waiting = Submission.objects.filter(state=Submission.State.MEASURED)
    tasks = Task.objects.filter(pk__in=waiting.order_by().values("task"))
    return waiting.exclude(task__in=[task.pk for task in tasks if task.pairs_only])
