from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Count, Exists, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Greatest

from crowd.elsewhere.models import is_unvouched
from crowd.hits.models import Assignment, Campaign, Rating
from genie.lib.serving.caches import Stamp, stamps
from quality.appeals.models import Appeal
from quality.bans.models import Ban
from quality.detection.models import ALL_EVIDENCE, Standing
from quality.test_questions.models import TestQuestion

if TYPE_CHECKING:
    import pandas as pd


def changed_at() -> dict[str, datetime]:
    """Return, for each pool, when the set of counting ratings last changed.

    It changes when a ban is imposed or lifted and when an appeal reverses a rejection.
    """
    rows = Ban.objects.values("pool").annotate(
        at=Max(Greatest("created_at", Coalesce("lifted_at", "created_at")))
    )
    changed = {row["pool"]: row["at"] for row in rows}
    granted = Appeal.objects.filter(
        state=Appeal.State.GRANTED, assignment__isnull=False
    )
    for pool, at in granted.order_by().values_list("pool").annotate(Max("answered_at")):
        changed[pool] = max(at, changed.get(pool, at))
    return changed


# Which ratings count, and why the others do not.
#
# A rating is left out if it answers a test question, its worker is banned, its work was
# rejected, a newer answer has replaced it, or the platform has not vouched for the visit.
COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)
COLUMNS = ["item", "worker", "criterion", "slot", "value"]
NOT_SENT, EXCLUDED = "work not handed in", "worker excluded"


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

    placed = TestQuestion.objects.filter(campaign__in=campaigns).values("item")
    banned = Ban.in_force.filter(
        worker=OuterRef("assignment__worker"), pool=OuterRef("item__campaign__pool")
    )
    rows = (
        Rating.objects.filter(
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

    banned = Ban.in_force.filter(
        worker=OuterRef("assignment__worker"), pool=OuterRef("item__campaign__pool")
    )
    rows = (
        Rating.objects.filter(item__campaign__in=campaigns)
        .exclude(
            item__in=TestQuestion.objects.filter(campaign__in=campaigns).values("item")
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
        [
            (*row[:6], f"{row[6]:%Y-%m-%d}" if row[6] else "", _why_not(*row[7:]))
            for row in rows
        ],
        columns=["campaign", *COLUMNS, "on", "why_not"],
    )


def _why_not(
    state: str, replaced_at: datetime | None, banned: bool, unvouched: bool
) -> str:
    if state == Assignment.State.REJECTED:
        return "work rejected"
    if state not in COUNTED:
        return NOT_SENT
    if banned:
        return EXCLUDED
    if replaced_at:
        return "replaced"
    return "visit not vouched for" if unvouched else ""


def n_excluded_workers(campaign: Campaign) -> int:
    """Count the campaign's workers whose ratings a ban removes.

    Workers who answered only test questions are not counted: they have no ratings.
    """
    banned = Ban.in_force.filter(pool=campaign.pool_id).values("worker")
    return (
        Rating.objects.filter(
            item__campaign=campaign,
            assignment__state__in=COUNTED,
            assignment__worker__in=banned,
        )
        .exclude(item__in=TestQuestion.objects.filter(campaign=campaign).values("item"))
        .values("assignment__worker")
        .distinct()
        .count()
    )


def waits_for_decision(pool: str, *, simulated: bool) -> bool:
    """Return whether exclusions wait for a person; no campaign ends meanwhile."""
    return Ban.proposed.filter(pool=pool, worker__simulated=simulated).exists()


# Open decisions that could change which ratings count.
def n_held(campaigns: Collection[int]) -> int:
    """Count workers with answers here whose exclusion staff have to decide."""
    answered = Assignment.objects.filter(
        hit__campaign__in=campaigns, state__in=COUNTED, replaced_at=None
    )
    pools = answered.values("hit__campaign__pool")
    return Ban.proposed.filter(
        pool__in=pools, worker__in=answered.values("worker")
    ).count()


def n_appeals(campaigns: Collection[int]) -> int:
    """Count open appeals that, if granted, let answers count here.

    A replaced answer does not come back.
    """
    unreplaced = Assignment.objects.filter(
        hit__campaign__in=campaigns, replaced_at=None
    )
    counted = unreplaced.filter(state__in=COUNTED)
    others = Assignment.objects.filter(
        hit=OuterRef("hit"), state__in=(*COUNTED, Assignment.State.ACCEPTED)
    )
    taken = others.order_by().values("hit").annotate(n=Count("pk")).values("n")
    rejected = unreplaced.filter(state=Assignment.State.REJECTED).filter(
        hit__max_assignments__gt=Coalesce(Subquery(taken), 0)
    )
    return Appeal.objects.filter(
        Q(assignment__in=rejected)
        | Q(
            ban__in=Ban.in_force.all(),
            ban__pool__in=counted.values("hit__campaign__pool"),
            ban__worker__in=counted.values("worker"),
        ),
        state=Appeal.State.WAITING,
    ).count()


# The detector that finds a pool's careless workers.
_detectors: list[Callable[[str], str]] = []


def register_detectors(of_pool: Callable[[str], str]) -> None:
    """Let `of_pool` name the detector of a pool; empty: the site's."""
    _detectors[:] = [of_pool]


def named_detector(pool: str) -> str:
    return "".join(of_pool(pool) for of_pool in _detectors)


def detector_of(pool: str) -> str:
    return named_detector(pool) or str(settings.GENIE["DETECTOR"])


# How much the ratings of workers count who are not excluded.
def soft_weights(pool: str) -> dict[str, float]:
    """Return the weights below 1; read them with `weight_of`.

    A weight is the probability that a rating was given with care: one for each worker,
    and one for each rating of those who seem to have stopped reading. Excluded workers
    are missing; those whom staff decided to keep count in full. Genie's detectors have
    no weights.
    """
    rows = Standing.objects.filter(pool=pool, weight__lt=1).exclude(
        worker__in=Ban.decided.filter(pool=pool).values("worker")
    )
    weights: dict[str, float] = {}
    for worker, weight, earlier in rows.order_by("worker").values_list(
        "worker", "weight", "earlier"
    ):
        weights[str(worker)] = weight
        weights |= {f"{worker}:{item}": own for item, own in earlier.items()}
    return weights if weights and detector_of(pool) == ALL_EVIDENCE else {}


def weights_stamps() -> dict[str, Stamp]:
    """Return, by pool, a stamp that changes with the pool's weights."""
    return stamps(
        (Standing.objects.filter(weight__lt=1), "pool", "weighed_at"),
        (Ban.decided.all(), "pool", "pk"),
    )


def weight_of(weights: Mapping[str, float], worker: int, item: int | None) -> float:
    return weights.get(f"{worker}:{item}", weights.get(str(worker), 1.0))
