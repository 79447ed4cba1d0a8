from collections.abc import Collection, Iterable, Mapping

from django.db.models import Count
from django.utils.translation import gettext_lazy

from crowd.hits.models import Assignment, Campaign
from crowd.workers.models.worker import Worker
from genie.lib.database import prepare

# The text for workers who have reached their share.
SHARE_DONE = gettext_lazy(
    "You have done your share of this task. Its scores must rest on many people, so "
    "everybody does only a part of it. Thank you!"
)

State = Assignment.State
# Returned or expired assignments do not count.
TAKEN = (State.ACCEPTED, State.SUBMITTED, State.APPROVED, State.REJECTED)


def left_of_share(worker: Worker, campaigns: Iterable[Campaign]) -> dict[int, int]:
    """Return how many more HITs the worker may do, by campaign with a limit.

    At most one query, however many campaigns.
    """
    limits = {
        campaign.pk: campaign.hits_per_worker
        for campaign in campaigns
        if campaign.hits_per_worker is not None
    }
    if not limits:
        return {}
    taken = dict(_count_taken(worker.pk, *limits))
    # Negative if the limit was lowered meanwhile.
    return {pk: max(0, limit - taken.get(pk, 0)) for pk, limit in limits.items()}


_count_taken = prepare(
    lambda worker, *campaigns: (
        Assignment.objects.filter(
            worker=worker, state__in=TAKEN, hit__campaign__pk__in=campaigns
        )
        .order_by()
        .values_list("hit__campaign")
        .annotate(n=Count("pk"))
    )
)


def used_up(worker: Worker, campaigns: Iterable[Campaign]) -> set[int]:
    left = left_of_share(worker, campaigns)
    return {pk for pk, n in left.items() if n == 0}


def most_left(campaigns: Collection[Campaign], left: Mapping[int, int]) -> int | None:
    """Sum what is left of the shares; None if one of the campaigns has no limit.

    `left` is the result of `left_of_share`.
    """
    shares = [left.get(campaign.pk) for campaign in campaigns]
    limited = [n for n in shares if n is not None]
    return sum(limited) if len(limited) == len(shares) else None


def with_full_share(campaign: Campaign) -> set[int]:
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
