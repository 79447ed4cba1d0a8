"""Outputs that staff confirmed as good: they can be positive test questions."""

from django.conf import settings
from django.db import models


class ConfirmedOutput(models.Model):
    prediction = models.OneToOneField(
        "leaderboard.Prediction", on_delete=models.CASCADE, related_name="confirmed"
    )
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    confirmed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"output {self.prediction_id}, confirmed as good"
