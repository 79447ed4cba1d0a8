"""Exclusions that the detector proposes and a person decides."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from quality.detection.models import Verdict


class HeldExclusion(models.Model):
    """A noisy worker who is not excluded yet, because too many would be at once.

    Until a person decides, the worker's answers count, and results that depend on them
    are not published.
    """

    class State(models.TextChoices):
        WAITING = "WAITING", "waiting for a decision"
        CONFIRMED = "CONFIRMED", "confirmed: the worker is excluded"
        REFUSED = "REFUSED", "refused: the worker stays"

    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.CASCADE, related_name="held_exclusions"
    )
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.WAITING
    )
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "pool"],
                condition=Q(state="WAITING"),
                name="held_once_at_a_time",
            )
        ]
        indexes = [models.Index(fields=["pool", "state"])]

    def __str__(self) -> str:
        return f"{self.worker} · {self.pool_id}"
