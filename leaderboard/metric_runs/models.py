"""Results of automatic metrics, and their runs in the background."""

from django.db import models

from genie.lib.runner import Work
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task


class MetricResult(models.Model):
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="metric_results"
    )
    metric = models.CharField(max_length=50)
    value = models.FloatField()
    # one number per instance, in the order of the instances' positions
    per_instance = models.JSONField()
    details = models.JSONField(default=dict)
    signature = models.CharField(max_length=300)
    # hash of the settings, which shows whether the result is still current
    identity = models.CharField(max_length=32, blank=True, default="")
    computed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["metric"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "metric", "signature"], name="metric_result_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.2f}"


class MetricRun(models.Model):
    """The computation of one metric with one setting for all submissions of a task."""

    class State(models.TextChoices):
        RUNNING = "RUNNING", "being computed"
        DONE = "DONE", "computed"
        STOPPED = "STOPPED", "stopped by staff"
        ABSENT = "ABSENT", "not computed here"

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="metric_runs")
    metric = models.CharField(max_length=50)
    # the settings, in words and hashed; empty if unknown on this machine
    settings = models.TextField(blank=True)
    identity = models.CharField(max_length=32, blank=True)
    state = models.CharField(
        max_length=8, choices=State.choices, default=State.RUNNING, db_index=True
    )
    reason = models.TextField(
        blank=True, help_text="Why it is not computed here, or the last error."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "metric", "identity"], name="metric_run_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.metric} on {self.task}"


class MetricPiece(Work):
    """Some instances of one submission, computed by one job of a run."""

    class State(models.TextChoices):
        WAITING = "WAITING", "waiting"
        DONE = "DONE", "computed"
        FAILED = "FAILED", "failed"

    run = models.ForeignKey(MetricRun, on_delete=models.CASCADE, related_name="pieces")
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="+"
    )
    # positions of the instances in the task's order: first <= position < end
    first = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    # the result, until the submission's pieces are combined
    output = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["run", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "submission", "first"], name="metric_piece_once"
            )
        ]
        indexes = [models.Index(fields=["run", "state"])]

    def __str__(self) -> str:
        return f"instances {self.first} to {self.end} of {self.submission_id}"
