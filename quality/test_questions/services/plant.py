"""Copies of ordinary outputs with a phrase replaced: who judged the one gets the other.

A copy stands in its campaign as a HIT that is closed. When somebody has judged what it is
a copy of, and something else since, one place of it is opened and handed to them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F

from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HIT, Campaign, Item
from crowd.hits.services import slots
from crowd.hits.services.build import ItemSpec
from crowd.workers.models.worker import Worker
from genie.lib.seeds import generator
from genie.lib.unguessable import seed_for
from quality.test_questions.models import PlantedCopy
from quality.test_questions.services.grade import COUNTED

# So much else lies between an output and its copy.
GAP = 5


@dataclass(frozen=True)
class CopySpec:
    """A copy before it is built, and the key of the item that it is a copy of."""

    spec: ItemSpec
    original: str
    made_from: dict[str, Any]


def place(campaign: Campaign, copies: Sequence[CopySpec], *, places: int) -> None:
    """Remember what is a copy of what, and keep the copies closed."""
    pk_of = dict(campaign.items.values_list("key", "pk"))
    PlantedCopy.objects.bulk_create(
        PlantedCopy(
            campaign=campaign,
            item_id=pk_of[copy.spec.key],
            original_id=pk_of[copy.original],
            made_from=copy.made_from,
            n_left=places,
        )
        for copy in copies
    )
    planted = PlantedCopy.objects.filter(campaign=campaign).values("item__hit")
    slots.close_free(HIT.objects.filter(campaign=campaign, pk__in=planted))


def due(worker: Worker, campaign: Campaign) -> int | None:
    """Open a place of a copy that the worker should get now, and name its HIT.

    As often as copies are planted, and drawn from the site's secret: nobody can tell when.
    """
    planted = PlantedCopy.objects.filter(campaign=campaign)
    n_planted = planted.count()
    if not n_planted:
        return None
    own = Assignment.objects.filter(worker=worker, hit__campaign=campaign)
    had = own.filter(hit__items__planted__isnull=False).count()
    shown = own.count() - had
    n_items = Item.objects.filter(campaign=campaign).aggregate(n=Count("pk"))["n"]
    wanted = shown * n_planted / max(1, n_items - n_planted) - had
    seed = seed_for("planted copy", campaign.key, worker.pk, shown + had)
    if wanted <= float(generator(seed).random()):
        return None
    recent = own.order_by("-pk").values_list("pk", flat=True)[:GAP]
    open_ones = planted.filter(
        n_left__gt=0,
        original__answers__assignment__worker=worker,
        original__answers__assignment__state__in=COUNTED,
    ).exclude(original__answers__assignment__in=list(recent))
    seen = own.values("hit")
    copy = open_ones.exclude(item__hit__in=seen).order_by("pk").first()
    if copy is None:
        return None
    left = PlantedCopy.objects.filter(pk=copy.pk, n_left__gt=0)
    if not left.update(n_left=F("n_left") - 1):
        return None
    slots.add(copy.item.hit_id)
    return copy.item.hit_id
