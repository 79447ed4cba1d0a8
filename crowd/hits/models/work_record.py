"""What is known of work before one takes it: how long it takes, how it is decided on."""

from __future__ import annotations

from django.db import models


class WorkRecord(models.Model):
    """Figures that are counted by a job, so that lists of work only read them.

    A row is of one kind of work (its pace), or of who decides on work (their decisions).
    """

    SITE = "site"

    # see `crowd.campaigns.selectors.work_records`
    key = models.CharField(max_length=140, unique=True)
    # empty where so few people were measured that one of them would be shown
    median_seconds = models.FloatField(null=True, blank=True)
    n_approved = models.PositiveIntegerField(default=0)
    n_rejected = models.PositiveIntegerField(default=0)
    decision_seconds = models.FloatField(null=True, blank=True)
    n_appeals = models.PositiveIntegerField(default=0)
    n_granted = models.PositiveIntegerField(default=0)
    counted_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.key

    @property
    def n_decided(self) -> int:
        """Count the decisions."""
        return self.n_approved + self.n_rejected

    @property
    def percent_approved(self) -> int | None:
        """Give the share approved; rounded down, so that 100 is said of all only."""
        return 100 * self.n_approved // self.n_decided if self.n_decided else None
