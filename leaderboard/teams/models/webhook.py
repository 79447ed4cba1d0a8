import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from leaderboard.submissions.models.submission import SubmissionEvent, Team


class Webhook(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    # The key that signs each delivery; a hash of it could not sign.
    secret = models.CharField(max_length=100)
    active = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    class State(models.TextChoices):
        WAITING = "WAITING", "waiting"
        DELIVERED = "DELIVERED", "delivered"
        FAILED = "FAILED", "failed"

    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, related_name="deliveries"
    )
    # empty: a test on request
    event = models.ForeignKey(
        SubmissionEvent, on_delete=models.CASCADE, null=True, related_name="+"
    )
    uuid = models.UUIDField(default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=50)
    payload = models.JSONField()
    state = models.CharField(
        max_length=10, choices=State.choices, default=State.WAITING
    )
    n_attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    last_status = models.PositiveSmallIntegerField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event"], name="delivery_once")
        ]
        indexes = [models.Index(fields=["state", "next_at"])]

    def __str__(self) -> str:
        return f"{self.kind} to {self.webhook}"
