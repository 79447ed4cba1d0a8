"""Which ratings count, and why the others do not.

A rating is left out if it answers a test question, its worker is banned, its work was
rejected, a newer answer has replaced it, or the platform has not vouched for the visit.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from crowd.elsewhere.models.external import is_unvouched
from crowd.hits.models.assignment import Answer, Assignment
from crowd.hits.models.campaign import Campaign
from quality.detection.models import Ban
from quality.test_questions.models import Placement

if TYPE_CHECKING:
    import pandas as pd

COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)
COLUMNS = ["item", "worker", "criterion", "slot", "value"]
NOT_SENT = "work not handed in"


def clean_ratings(campaign: Campaign) -> pd.DataFrame:
    """Return the ratings that count, one a row: item, worker, criterion, slot, value.

    The slot is empty unless the rating is about one of several outputs.
    """
    return clean_ratings_of([campaign.pk])[COLUMNS]


def clean_ratings_of(campaigns: Collection[int]) -> pd.DataFrame:
    """Return the ratings that count in any of these campaigns, in one query.

    Columns as in `clean_ratings`, and `campaign` first; the order is by item.
    """
    import pandas as pd

    placed = Placement.objects.filter(campaign__in=campaigns).values("item")
    banned = Ban.objects.filter(
        worker=OuterRef("assignment__worker"),
        pool=OuterRef("item__campaign__pool"),
        lifted_at=None,
    )
    rows = (
        Answer.objects.filter(
            item__campaign__in=campaigns,
            assignment__state__in=COUNTED,
            assignment__replaced_at=None,
        )
        .exclude(item__in=placed)
        .exclude(Exists(banned))
        .exclude(is_unvouched("assignment"))
        # Ratings are always read in one order: sums of floats depend on it, and the
        # same ratings must give the same bytes.
        .order_by("item_id", "assignment__worker_id", "criterion", "slot")
        .values_list(
            "item__campaign_id",
            "item_id",
            "assignment__worker_id",
            "criterion",
            "slot",
            "value",
        )
    )
    return pd.DataFrame.from_records(list(rows), columns=["campaign", *COLUMNS])


def all_ratings_of(campaigns: Collection[int]) -> pd.DataFrame:
    """Return every rating without test questions, and why it does not count.

    Columns: campaign, item, worker, criterion, slot, value, on (the day), why_not
    (empty if the rating counts: then it is in `clean_ratings_of`, too).
    """
    import pandas as pd

    banned = Ban.objects.filter(
        worker=OuterRef("assignment__worker"),
        pool=OuterRef("item__campaign__pool"),
        lifted_at=None,
    )
    rows = (
        Answer.objects.filter(item__campaign__in=campaigns)
        .exclude(
            item__in=Placement.objects.filter(campaign__in=campaigns).values("item")
        )
        .annotate(banned=Exists(banned), unvouched=is_unvouched("assignment"))
        .order_by("item_id", "assignment__worker_id", "criterion", "slot")
        .values_list(
            "item__campaign_id",
            "item_id",
            "assignment__worker_id",
            "criterion",
            "slot",
            "value",
            "assignment__submitted_at",
            "assignment__state",
            "assignment__replaced_at",
            "banned",
            "unvouched",
        )
    )
    return pd.DataFrame.from_records(
        [(*row[:6], _day(row[6]), _why_not(*row[7:])) for row in rows],
        columns=["campaign", *COLUMNS, "on", "why_not"],
    )


def _day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d}" if at else ""


def _why_not(
    state: str, replaced_at: datetime | None, banned: bool, unvouched: bool
) -> str:
    if state == Assignment.State.REJECTED:
        return "work rejected"
    if state not in COUNTED:
        return NOT_SENT
    if banned:
        return "worker excluded"
    if replaced_at:
        return "replaced"
    return "visit not vouched for" if unvouched else ""


def n_excluded_workers(campaign: Campaign) -> int:
    """Count the campaign's workers whose ratings a ban removes.

    Workers who answered only test questions are not counted: they have no ratings.
    """
    banned = Ban.objects.filter(pool=campaign.pool, lifted_at=None).values("worker")
    return (
        Answer.objects.filter(
            item__campaign=campaign,
            assignment__state__in=COUNTED,
            assignment__worker__in=banned,
        )
        .exclude(item__in=Placement.objects.filter(campaign=campaign).values("item"))
        .values("assignment__worker")
        .distinct()
        .count()
    )
