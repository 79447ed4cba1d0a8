from __future__ import annotations

from django.db import models

from leaderboard.submissions.models.submission import Submission


class MetricResult(models.Model):
    """One automatic metric of one submission: overall and per instance."""

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="metric_results"
    )
    metric = models.CharField(max_length=50)
    value = models.FloatField()
    # one number an instance, in the order of the instances' positions
    per_instance = models.JSONField()
    details = models.JSONField(default=dict)
    signature = models.CharField(max_length=300)
    # the settings it was computed with, hashed: what tells whether it is still current
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
