"""How much the ratings of each worker count, beside who is excluded."""

from __future__ import annotations

from django.conf import settings

from quality.bans.models import HeldExclusion
from quality.detection.models import ALL_EVIDENCE, Ban, Standing


def soft_weights(pool: str) -> dict[int, float]:
    """Give the weights of those workers of a pool who do not count in full, by key.

    A weight is the probability that a worker is careful. Who is excluded counts for
    nothing and is not named; those for whom staff decided count in full. Genie's
    detectors know no weights.
    """
    if settings.GENIE["DETECTOR"] != ALL_EVIDENCE:
        return {}
    refused = HeldExclusion.objects.filter(
        pool=pool, state=HeldExclusion.State.REFUSED
    ).values("worker")
    rows = (
        Standing.objects.filter(pool=pool, weight__lt=1)
        .exclude(worker__in=Ban.objects.filter(pool=pool).values("worker"))
        .exclude(worker__in=refused)
    )
    return dict(rows.order_by("worker").values_list("worker", "weight"))
