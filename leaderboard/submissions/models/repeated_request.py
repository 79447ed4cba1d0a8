from django.conf import settings
from django.db import models

from leaderboard.submissions.models.submission import Submission


class RepeatedRequest(models.Model):
    """A key under which a program hands in: sent again, it gets the same answer."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    key = models.CharField(max_length=200)
    # what was sent under it: the fields and the file, hashed
    fingerprint = models.CharField(max_length=64)
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, null=True, related_name="+"
    )
    # of a comparison or a joint evaluation, where that was asked for
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
