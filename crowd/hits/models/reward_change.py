"""What staff changed about the reward of a campaign that runs."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from crowd.hits.models.campaign import Campaign, HITType


class RewardChange(models.Model):
    """One decision: from now on an assignment of this campaign pays something else.

    The HIT types hold the rewards. The fees are kept here, as a campaign knows only that
    of its present reward.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="reward_changes"
    )
    old = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="+")
    new = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="+")
    old_fee_cents = models.PositiveIntegerField()
    new_fee_cents = models.PositiveIntegerField()
    # assignments that were still to be taken
    n_places = models.PositiveIntegerField()
    # what was added to the campaign's budget for them
    added_cents = models.PositiveIntegerField()
    reason = models.TextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.old.reward_cents} to {self.new.reward_cents} ¢"
