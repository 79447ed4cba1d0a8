"""Tokens by which programs act for an account."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class AccessToken(models.Model):
    """What a program of an account may do through the API; only its hash is kept."""

    class Scope(models.TextChoices):
        READ = "read", "read everything the account can read"
        SUBMIT = "submit", "submit systems, check files, manage webhooks"
        WITHDRAW = "withdraw", "withdraw submissions, which cannot be undone"
        STAFF = "staff", "staff operations; only for staff accounts"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_tokens"
    )
    name = models.CharField(max_length=100)
    token_sha256 = models.CharField(max_length=64, unique=True)
    # the last signs, by which a person tells their tokens apart
    ending = models.CharField(max_length=4)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "genie"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} (…{self.ending})"

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def works(self) -> bool:
        return self.revoked_at is None and not self.expired
