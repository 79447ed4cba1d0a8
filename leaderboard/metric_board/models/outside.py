from django.conf import settings
from django.db import models
from django.db.models import Q

from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.models import Task

# The format of what came without a file: the answers of a judge.
JUDGED = "judge"


class OutsideMetric(models.Model):
    """A metric that somebody else computed: its owner handed in the numbers.

    It stands on the task's metric board only, and there only once it is published.
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
    # whether it has a number for each instance, or one for each system only
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
        """Whether a judge of this site answered, so that no file was handed in."""
        return self.file_format == JUDGED

    @property
    def slug(self) -> str:
        """Its name among the board's metrics; no slug of a site's metric has a dot."""
        return f"outside.{self.pk}"


class OutsideScores(models.Model):
    """What an outside metric says of one submission."""

    metric = models.ForeignKey(
        OutsideMetric, on_delete=models.CASCADE, related_name="scores"
    )
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="+"
    )
    value = models.FloatField()
    # one number an instance in the order of positions; empty: for the system only
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
