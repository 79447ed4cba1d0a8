"""Whether a task has published figures."""

from django.db.models import Exists, OuterRef, QuerySet

from leaderboard.imports.models import PublishedFigure
from leaderboard.tasks.models import Task


def with_published() -> QuerySet[Task]:
    """Return tasks annotated with `has_published`, which saves a query for each."""
    kept = PublishedFigure.objects.filter(task=OuterRef("pk"))
    return Task.objects.annotate(has_published=Exists(kept))
