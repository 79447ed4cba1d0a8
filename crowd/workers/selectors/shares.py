"""How much of a campaign a worker has done, where nobody may do more than a share."""

from collections.abc import Collection, Iterable, Mapping

from django.db.models import Count
from django.utils.translation import gettext_lazy

from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.workers.models.worker import Worker

# What a worker reads who has done their share.
SHARE_DONE = gettext_lazy(
    "You have done your share of this task. Its scores must rest on many people, so "
    "everybody does only a part of it. Thank you!"
)

State = Assignment.State
# What was returned or timed out is nobody's answer and counts for no share.
TAKEN = (State.ACCEPTED, State.SUBMITTED, State.APPROVED, State.REJECTED)


def left_of_share(worker: Worker, campaigns: Iterable[Campaign]) -> dict[int, int]:
    """Say how many HITs more the worker may do, of each campaign that has a limit.

    One query at most, however many campaigns.
    """
    limits = {
        campaign.pk: campaign.hits_per_worker
        for campaign in campaigns
        if campaign.hits_per_worker is not None
    }
    if not limits:
        return {}
    rows = (
        Assignment.objects.filter(
            worker=worker, state__in=TAKEN, hit__campaign__in=limits
        )
        .order_by()
        .values_list("hit__campaign")
        .annotate(n=Count("pk"))
    )
    taken = dict(rows)
    # Less than nothing where the limit has become lower meanwhile.
    return {pk: max(0, limit - taken.get(pk, 0)) for pk, limit in limits.items()}


def used_up(worker: Worker, campaigns: Iterable[Campaign]) -> set[int]:
    """Find the campaigns of which the worker has done their share."""
    left = left_of_share(worker, campaigns)
    return {pk for pk, n in left.items() if n == 0}


def most_left(campaigns: Collection[Campaign], left: Mapping[int, int]) -> int | None:
    """Add up what is left of the shares; None where one of the campaigns has no limit.

    Parameters
    ----------
    campaigns : collection of Campaign
    left : mapping
        What `left_of_share` gives for them.

    Returns
    -------
    int or None
    """
    shares = [left.get(campaign.pk) for campaign in campaigns]
    limited = [n for n in shares if n is not None]
    return sum(limited) if len(limited) == len(shares) else None


def with_full_share(campaign: Campaign) -> set[int]:
    """Find the workers who have done their share of a campaign."""
    if campaign.hits_per_worker is None:
        return set()
    rows = (
        Assignment.objects.filter(hit__campaign=campaign, state__in=TAKEN)
        .order_by()
        .values("worker")
        .annotate(n=Count("pk"))
        .filter(n__gte=campaign.hits_per_worker)
    )
    return set(rows.values_list("worker", flat=True))
