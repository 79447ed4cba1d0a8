from __future__ import annotations

from django.db import models

from crowd.hits.models.campaign import Campaign
from crowd.workers.models.worker import Worker


class Reservation(models.Model):
    """One and the same worker answers the whole campaign: whoever takes its first HIT."""

    campaign = models.OneToOneField(
        Campaign, on_delete=models.CASCADE, related_name="reservation"
    )
    worker = models.ForeignKey(
        Worker,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="reservations",
    )

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.campaign} for {{self.worker or 'the first worker who takes it'}}"
