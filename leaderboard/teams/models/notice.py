from django.conf import settings
from django.db import models

from leaderboard.submissions.models.submission import SubmissionEvent


class NoticePreference(models.Model):
    """Unwanted e-mails of an account, and their language; default: all, in English."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    muted = models.JSONField(default=list, blank=True)
    # the language of e-mails; empty: English
    language = models.CharField(max_length=16, blank=True)

    def __str__(self) -> str:
        return f"notices of {self.user}"


class Notice(models.Model):
    event = models.ForeignKey(
        SubmissionEvent, on_delete=models.CASCADE, related_name="notices"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    kind = models.CharField(max_length=16)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["event", "user"], name="notice_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.user}"
