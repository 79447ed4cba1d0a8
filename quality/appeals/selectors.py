"""How appeals came out, for those who think about taking work."""

from __future__ import annotations

from django.db.models import Count, Q

from crowd.campaigns.selectors.work_records import SITE, key_of_requester
from quality.appeals.models import Appeal


def outcomes() -> dict[str, tuple[int, int]]:
    """Count answered appeals, and those granted, by whose decisions they are about."""
    rows = (
        Appeal.objects.exclude(state=Appeal.State.WAITING)
        .order_by()
        .values_list("requester_assignment__hit__requester")
        .annotate(n=Count("pk"), granted=Count("pk", filter=Q(state="GRANTED")))
    )
    return {
        SITE if pk is None else key_of_requester(pk): (n, n_granted)
        for pk, n, n_granted in rows
    }
