"""Whether anything published is kept with a task."""

from django.db.models import Exists, OuterRef, QuerySet

from leaderboard.imports.models import PublishedFigure
from leaderboard.tasks.models import Task


def with_published() -> QuerySet[Task]:
    """Give tasks that know it as `has_published`, without a query of its own."""
    kept = PublishedFigure.objects.filter(task=OuterRef("pk"))
    return Task.objects.annotate(has_published=Exists(kept))
