"""End a campaign although some of its instances were test questions for some workers.

A worker who met an instance as a test question does not rate it. So test questions are
left over once everything is rated. With very few workers, an item may be left that only
workers could rate who met its instance as a test or beside rated outputs.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from crowd.campaigns.selectors.starved import nobody_else_comes
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HIT, Campaign, Item
from crowd.hits.services import inputs, slots
from quality.test_questions.models import Placement

State = Assignment.State


@transaction.atomic
def settle(campaign: Campaign, now: datetime | None = None) -> int:
    """Close leftover HITs, or open those that are stuck; return how many."""
    # The lock prevents that an exclusion reissues work in between.
    locked = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    if locked.state != Campaign.State.RUNNING:
        return 0
    tests, judged = _hits(locked)
    if not tests.exists():
        return 0
    waiting = judged.filter(n_available__gt=0)
    if not waiting.exists():
        at_work = judged.filter(assignments__state=State.ACCEPTED)
        return 0 if at_work.exists() else slots.close_free(tests)
    if not nobody_else_comes(locked, now or timezone.now()):
        return 0
    return _open(locked, waiting)


def _hits(campaign: Campaign) -> tuple[QuerySet[HIT], QuerySet[HIT]]:
    tests, hits = test_hits(campaign), campaign.hits.order_by("pk")
    return hits.filter(pk__in=tests), hits.exclude(pk__in=tests)


def test_hits(campaign: Campaign) -> QuerySet[Item, int]:
    placed = Placement.objects.filter(campaign=campaign).values("item")
    return Item.objects.filter(pk__in=placed).values_list("hit", flat=True)


def _open(campaign: Campaign, waiting: QuerySet[HIT]) -> int:
    """Open an input to workers who met it as a test question or beside a rated output.

    That is a test question of any campaign of the pool; inputs that a worker rated in
    another campaign stay closed. One HIT of an input at a time: opening two together
    would keep the others closed.
    """
    placed = Placement.objects.filter(campaign__pool=campaign.pool).values("item")
    tests = Item.objects.filter(pk__in=placed).values("hit")
    taken = HIT.objects.filter(
        Q(campaign=campaign) | Q(pk__in=tests),
        input__content_key__in=waiting.values("input__content_key"),
        assignments__isnull=False,
    ).distinct()
    met: dict[str, set[int]] = {}
    for pk, key in taken.values_list("pk", "input__content_key"):
        met.setdefault(key, set()).add(pk)
    stuck: dict[str, HIT] = {}
    opened_before = waiting.filter(input__scope__endswith=inputs.AGAIN).values("pk")
    for hit in waiting.exclude(pk__in=opened_before).select_related("input"):
        if met.get(hit.input.content_key, set()) - {hit.pk}:
            stuck.setdefault(hit.input.content_key, hit)
    inputs.count_by_campaign(campaign, stuck.values())
    return len(stuck)
