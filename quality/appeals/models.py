"""Workers' appeals against decisions, and the answers of staff."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from quality.bans.models import Ban


class Appeal(models.Model):
    """A worker's appeal against a rejection or exclusion; each can be appealed once."""

    class State(models.TextChoices):
        WAITING = "WAITING", "waiting for an answer"
        GRANTED = "GRANTED", "granted"
        UPHELD = "UPHELD", "decision upheld"

    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.CASCADE, related_name="appeals"
    )
    # empty for a requester's work
    pool = models.ForeignKey("crowd.Pool", models.PROTECT, null=True, blank=True)
    # One of the three: our rejected work, a requester's, or the ban. All three are
    # empty if the appeal is against the record in a pool, or the exclusion from all work.
    assignment = models.OneToOneField(
        "crowd.Assignment",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="appeal",
    )
    requester_assignment = models.OneToOneField(
        "crowd.RequesterAssignment",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="appeal",
    )
    ban = models.OneToOneField(
        Ban, on_delete=models.CASCADE, null=True, blank=True, related_name="appeal"
    )
    words = models.TextField(max_length=2000)
    created_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.WAITING
    )
    # the sentence that the worker reads
    answer = models.TextField(blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    assignment__isnull=False, requester_assignment=None, ban=None
                )
                | Q(assignment=None, requester_assignment__isnull=False, ban=None)
                | Q(assignment=None, requester_assignment=None),
                name="against_a_rejection_or_a_ban",
            )
        ]
        indexes = [models.Index(fields=["state", "created_at"])]

    def __str__(self) -> str:
        return f"{self.worker} against {self.against}"

    @property
    def against(self) -> str:
        if self.requester_assignment is not None:
            return f"a rejection · {self.requester_assignment.hit.requester}"
        if self.assignment_id is None and self.ban_id is None:
            if self.pool_id is not None:
                return f"the weight of their answers · {self.pool_id}"
            return "exclusion from all work"
        return f"{'a rejection' if self.assignment_id else 'a ban'} · {self.pool_id}"
