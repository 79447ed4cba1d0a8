"""What a worker may be given next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Count, QuerySet
from django.utils import timezone

from crowd.models import HIT, Assignment, Campaign, Exclusion, Item, Reservation, Worker
from crowd.selectors.consent import consented
from crowd.selectors.requirements import unmet

# How many available HITs are looked at first, and at most, at once.
FIRST_LOOK = 16
LARGEST_LOOK = 1_024


def open_campaigns(worker: Worker) -> list[Campaign]:
    """List the running campaigns that are not closed to the worker, oldest first.

    A program that plays a worker gets simulated campaigns only.
    """
    if worker.excluded:
        return []
    running = Campaign.objects.filter(
        state=Campaign.State.RUNNING, platform=worker.platform
    ).exclude(pool__in=Exclusion.objects.filter(worker=worker).values("pool"))
    others = Reservation.objects.exclude(worker=None).exclude(worker=worker)
    running = running.exclude(pk__in=others.values("campaign"))
    if worker.simulated:
        running = running.filter(simulated=True)
    return list(running.select_related("hit_type").order_by("starts_at", "pk"))


def campaigns_for(worker: Worker) -> list[Campaign]:
    """List the open campaigns whose work the worker may be given.

    The worker has consented to the pool's text and meets what is required.
    """
    campaigns = open_campaigns(worker)
    agreed = consented(worker, {campaign.pool for campaign in campaigns})
    agreeable = [campaign for campaign in campaigns if campaign.pool in agreed]
    lacking = unmet(worker, agreeable, timezone.now())
    return [campaign for campaign in agreeable if campaign.pk not in lacking]


def unseen_hits(worker: Worker, campaign: Campaign) -> Iterator[int]:
    """Give the available HITs without anything that the worker has seen, in order.

    The two sets are compared here and not by a join: a database that has not counted
    its rows yet can take minutes for that join, and there is always a new campaign.
    """
    seen: set[str] | None = None
    after, size = -1, FIRST_LOOK
    while True:
        hits = dict(
            HIT.objects.filter(campaign=campaign, n_available__gt=0, position__gt=after)
            .order_by("position")
            .values_list("pk", "position")[:size]
        )
        if not hits:
            return
        if seen is None:
            seen = _seen_inputs(worker, campaign)
        inputs = _inputs(Item.objects.filter(hit__in=list(hits)))
        yield from (pk for pk in hits if seen.isdisjoint(inputs[pk]))
        after, size = max(hits.values()), min(4 * size, LARGEST_LOOK)


def unseen_inputs(worker: Worker, campaign: Campaign) -> dict[int, set[str]]:
    """Give the content keys of all available HITs that the worker has not seen."""
    seen = _seen_inputs(worker, campaign)
    available = _inputs(Item.objects.filter(campaign=campaign, hit__n_available__gt=0))
    return {pk: keys for pk, keys in available.items() if seen.isdisjoint(keys)}


def n_unseen(worker: Worker, campaign: Campaign) -> int:
    """Count the available inputs that the worker has not seen.

    Inputs, not HITs: once a worker has one of them, the others of it are closed.
    """
    available = Item.objects.filter(campaign=campaign, hit__n_available__gt=0)
    known = available.filter(content_key__in=_seen_inputs(worker, campaign))
    return _n_inputs(available) - _n_inputs(known)


def _n_inputs(items: QuerySet[Item]) -> int:
    n: int = items.order_by().aggregate(n=Count("content_key", distinct=True))["n"]
    return n


def _seen_inputs(worker: Worker, campaign: Campaign) -> set[str]:
    """Give what the worker has seen, whatever became of the assignment.

    First their HITs, then what those show: see `unseen_hits`.
    """
    seen = Assignment.objects.filter(worker=worker).order_by()
    if campaign.exposure == "campaign":
        seen = seen.filter(hit__campaign=campaign)
    else:
        seen = seen.filter(hit__campaign__pool=campaign.pool)
    items = Item.objects.filter(hit__in=list(seen.values_list("hit_id", flat=True)))
    return set(items.order_by().values_list("content_key", flat=True))


def _inputs(items: QuerySet[Item]) -> dict[int, set[str]]:
    inputs: dict[int, set[str]] = defaultdict(set)
    for hit_pk, key in items.order_by().values_list("hit_id", "content_key"):
        inputs[hit_pk].add(key)
    return inputs
