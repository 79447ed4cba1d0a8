from django.conf import settings
from django.db import models

from leaderboard.submissions.models.submission import Submission


class RepeatedRequest(models.Model):
    """A key of an API request: if it is sent again, the answer is the same."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    key = models.CharField(max_length=200)
    # hash of the request: the fields and the file
    fingerprint = models.CharField(max_length=64)
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, null=True, related_name="+"
    )
    # if it requested a comparison or a joint evaluation
    evaluation = models.ForeignKey(
        "leaderboard.HumanEvaluation",
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="request_key_once")
        ]

    def __str__(self) -> str:
        return self.key
