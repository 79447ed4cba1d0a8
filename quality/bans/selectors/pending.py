"""Open decisions that could change which ratings count."""

from collections.abc import Collection

from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from crowd.hits.models.assignment import Assignment
from quality.appeals.models import Appeal
from quality.bans.models import HeldExclusion
from quality.bans.selectors.clean_ratings import COUNTED


def n_held(campaigns: Collection[int]) -> int:
    """Count workers with answers here whose exclusion staff have to decide."""
    answered = Assignment.objects.filter(
        hit__campaign__in=campaigns, state__in=COUNTED, replaced_at=None
    )
    pools = answered.values("hit__campaign__pool")
    return HeldExclusion.objects.filter(
        state=HeldExclusion.State.WAITING,
        pool__in=pools,
        worker__in=answered.values("worker"),
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
            ban__lifted_at=None,
            ban__pool__in=counted.values("hit__campaign__pool"),
            ban__worker__in=counted.values("worker"),
        ),
        state=Appeal.State.WAITING,
    ).count()
