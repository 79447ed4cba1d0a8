"""Keep workers on the document they began, and other workers off it.

Parts of a document are neighbors in their campaign. Without this, two workers at the
same time would get alternating pages of one document.
"""

from collections.abc import Sequence
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from crowd.hit_templates.form import DOCUMENT
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HIT, Campaign, Item
from crowd.hits.selectors.questions import form_of
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import CANDIDATES

# Workers keep a document for this long after their last page of it.
KEPT = timedelta(minutes=30)
_OF_ITEM = f"data__{DOCUMENT}"
_OF_HIT = f"items__{_OF_ITEM}"


def preferred(
    worker: Worker, campaign: Campaign, unseen: QuerySet[HIT], hits: Sequence[int]
) -> list[int]:
    if not form_of(campaign.hit_type).by_document:
        return list(hits)
    theirs, others = _documents(worker, campaign)
    for rows in (
        unseen.filter(**{_OF_HIT: theirs}) if theirs else unseen.none(),
        unseen.exclude(**{f"{_OF_HIT}__in": others}) if others else unseen.none(),
    ):
        if found := list(rows.values_list("pk", flat=True)[:CANDIDATES]):
            return found
    return list(hits)


def _documents(worker: Worker, campaign: Campaign) -> tuple[str, list[str]]:
    since = timezone.now() - KEPT
    last = Assignment.objects.filter(worker=worker, hit__campaign=campaign)
    hit = last.order_by("-pk").values_list("hit", flat=True).first()
    theirs = Item.objects.filter(hit=hit).values_list(_OF_ITEM, flat=True).first()
    begun = Item.objects.filter(
        campaign=campaign, hit__assignments__accepted_at__gt=since
    ).exclude(hit__assignments__worker=worker)
    others = {
        name for name in begun.values_list(_OF_ITEM, flat=True).distinct() if name
    }
    return str(theirs or ""), sorted(others)
