from django.db import models

from genie.lib.ordered_json import OrderedJSONField
from leaderboard.tasks.models import Task


class MetricBoard(models.Model):
    """A stored snapshot of how well a task's metrics agree with people on one criterion."""

    class State(models.TextChoices):
        WAITING = "WAITING", "being computed"
        READY = "READY", "computed"
        TOO_FEW = "TOO_FEW", "too few systems"
        FAILED = "FAILED", "failed"

    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="metric_boards"
    )
    criterion = models.CharField(max_length=50)
    # hash of all inputs: the same inputs are never computed twice
    inputs_sha256 = models.CharField(max_length=64)
    state = models.CharField(
        max_length=8, choices=State.choices, default=State.WAITING, db_index=True
    )
    seed = models.BigIntegerField()
    code_version = models.CharField(max_length=50)
    simulated = models.BooleanField(default=False)
    n_systems = models.PositiveIntegerField(default=0)
    payload = OrderedJSONField(default=dict, blank=True)
    seconds = models.FloatField(default=0.0)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    failure = models.TextField(blank=True)
    # when these inputs were last current
    wanted_at = models.DateTimeField()
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-wanted_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "criterion", "inputs_sha256"],
                name="metric_board_once",
            )
        ]

    def __str__(self) -> str:
        return f"metrics of {self.task} by {self.criterion}"
