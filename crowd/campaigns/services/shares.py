"""Limits on the share of a campaign that one worker may do.

Scores must generalize to other workers, so they must not depend on a few. A worker who
has reached their share gets no more HITs of that campaign
(`crowd.workers.selectors.eligible`).
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from crowd.campaigns.selectors.starved import n_able
from crowd.campaigns.services.run import HERE
from crowd.elsewhere.models import ExternalCampaign
from crowd.hits.models import Campaign
from crowd.hits.services.platforms import can
from genie.lib.admin import note

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


def plan(campaign: Campaign, share: float, *, follows_crowd: bool) -> None:
    """Limit each worker to this share of a campaign that was just built.

    With `follows_crowd`, a small crowd can still finish it: each of n active workers
    may do up to 2 / n, twice an equal part. On a platform's own pages, the limit has no
    effect.
    """
    if share >= 1 or can(campaign.platform).answers_there:
        return
    campaign.worker_share, campaign.share_follows_crowd = share, follows_crowd
    campaign.save(update_fields=["worker_share", "share_follows_crowd"])
    refresh(campaign)


def refresh(campaign: Campaign, now: datetime | None = None) -> None:
    """Compute again how many HITs the share is, as HITs and workers come and go."""
    planned = campaign.worker_share
    if planned is None:
        return
    share = planned
    if campaign.share_follows_crowd and campaign.platform == HERE:
        n = n_able(campaign, now or timezone.now(), enough=math.ceil(2 / planned))
        if n == 0:
            return  # No workers yet, or no HITs wait: that says nothing about the crowd.
        share = max(planned, 2 / n)
    n_hits = campaign.hits.aggregate(n=Sum("max_assignments"))["n"] or 0
    # A little less, so that .1 of 880 is 88 and not 89.
    part = math.ceil(min(share, 1) * n_hits - 1e-9)
    limit = max(1, part, _place_size(campaign))
    if limit != campaign.hits_per_worker:
        # Unless staff have lifted it meanwhile.
        Campaign.objects.filter(pk=campaign.pk, worker_share=planned).update(
            hits_per_worker=limit
        )
        campaign.hits_per_worker = limit


def lift(pk: int, by: AbstractBaseUser, why: str) -> bool:
    """Lift the limit of a campaign; False if there is none."""
    with transaction.atomic():
        lifted = Campaign.objects.filter(
            pk=pk, worker_share__isnull=False, state__in=_UNDER_WAY
        ).update(worker_share=None, hits_per_worker=None, share_follows_crowd=False)
        if lifted:
            sentence = "Lifted the limit per worker."
            note(by, Campaign.objects.get(pk=pk), sentence, why)
    return bool(lifted)


_UNDER_WAY = (
    Campaign.State.SCHEDULED,
    Campaign.State.RUNNING,
    Campaign.State.PAUSED,
)


def _place_size(campaign: Campaign) -> int:
    """Return how many HITs a platform pays a visitor for; fewer would be half a visit."""
    place = ExternalCampaign.objects.filter(campaign=campaign).first()
    return 0 if place is None else place.place_size
