"""Days on which published scores of a task changed: at most one change a day."""

from django.db import models

from leaderboard.tasks.models import Task


class Rescoring(models.Model):
    """A day on which published scores of a task changed, all in one transaction."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="rescorings")
    # in UTC; of two jobs that rescore on the same day one fails
    on = models.DateField()
    at = models.DateTimeField()
    n_changed = models.PositiveIntegerField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["task", "on"], name="rescored_once_a_day")
        ]

    def __str__(self) -> str:
        return f"{self.task} on {self.on}"
