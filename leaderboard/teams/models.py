import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy

from genie.lib.runner import Work
from genie.lib.unguessable import SealedField
from leaderboard.submissions.models import SubmissionEvent, Team


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


class Membership(models.Model):
    class Role(models.TextChoices):
        OWNER = "OWNER", gettext_lazy("owner")
        MEMBER = "MEMBER", gettext_lazy("member")

    team = models.ForeignKey(
        "leaderboard.Team", on_delete=models.CASCADE, related_name="memberships"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="team_memberships",
    )
    role = models.CharField(max_length=6, choices=Role.choices, default=Role.MEMBER)
    joined_at = models.DateTimeField(auto_now_add=True, null=True)

    class Meta:
        # the table's name from before members had roles
        db_table = "leaderboard_team_members"
        ordering = ["pk"]
        unique_together = [("team", "user")]

    def __str__(self) -> str:
        return f"{self.user}, {self.get_role_display()}"


class TeamInvitation(models.Model):
    """A link by which one person joins a team; only its hash is stored."""

    team = models.ForeignKey(
        "leaderboard.Team", on_delete=models.CASCADE, related_name="invitations"
    )
    token_sha256 = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True)
    role = models.CharField(
        max_length=6, choices=Membership.Role.choices, default=Membership.Role.MEMBER
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"invitation to {self.team}"


class Webhook(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    # The key that signs each delivery; a hash of it could not sign.
    secret = SealedField(max_length=100)
    active = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(Work):
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
    last_status = models.PositiveSmallIntegerField(null=True, blank=True)
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
