from __future__ import annotations

from django.conf import settings
from django.db import models


class Asked(models.Model):
    """What somebody wants to know about systems: who asked, who decided, how it went."""

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Who approved or declined what it costs.",
    )
    decision_reason = models.TextField(blank=True)
    approved_cents = models.PositiveIntegerField(null=True, blank=True)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    failure = models.TextField(blank=True)
    failure_permanent = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
