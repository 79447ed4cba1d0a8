from django.conf import settings
from django.db import models
from django.db.models import Q

from genie.lib.database import OrderedJSONField
from genie.lib.runner import Work
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task


class MetricBoard(Work):
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
    # when these inputs were last current
    wanted_at = models.DateTimeField()
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-wanted_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "criterion", "inputs_sha256"], name="metric_board_once"
            )
        ]

    def __str__(self) -> str:
        return f"metrics of {self.task} by {self.criterion}"


# `file_format` of scores that a judge of this site gave, without a file.
JUDGED = "judge"


class OutsideMetric(models.Model):
    """A metric with uploaded scores.

    It appears only on its task's metric board, and only after it is published.
    """

    task = models.ForeignKey(
        Task, on_delete=models.PROTECT, related_name="outside_metrics"
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    name = models.CharField(max_length=60)
    description = models.TextField(max_length=2000, blank=True)
    higher_is_better = models.BooleanField(default=True)
    file_name = models.CharField(max_length=200)
    file_sha256 = models.CharField(max_length=64)
    file_format = models.CharField(max_length=20)
    # whether it scores each instance, or only whole systems
    by_instance = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "owner", "name"],
                condition=Q(withdrawn_at=None),
                name="outside_metric_once",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def by_program(self) -> bool:
        """Whether a judge of this site gave the scores, so that there is no file."""
        return self.file_format == JUDGED

    @property
    def slug(self) -> str:
        """Identifier on the board; the dot sets it apart from the site's own metrics."""
        return f"outside.{self.pk}"


class OutsideScores(models.Model):
    metric = models.ForeignKey(
        OutsideMetric, on_delete=models.CASCADE, related_name="scores"
    )
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="+"
    )
    value = models.FloatField()
    # one number per instance, by position; empty if only the system is scored
    per_instance = models.JSONField(default=list)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["metric", "submission"], name="outside_scores_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.metric_id} of {self.submission_id}: {self.value:.3f}"
