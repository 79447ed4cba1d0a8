"""How much the ratings of each worker count, beside who is excluded."""

from collections.abc import Mapping

from django.conf import settings

from genie.lib.serving.unmoved import Stamp, stamps
from quality.bans.models import HeldExclusion
from quality.detection.models import ALL_EVIDENCE, Ban, Standing


def soft_weights(pool: str) -> dict[str, float]:
    """Give the weights of what does not count in full, see `weight_of`.

    A weight is the probability that a rating was given with care: one for each worker,
    and one for each rating of those who seem to have stopped reading. Who is excluded
    counts for nothing and is not named; those for whom staff decided count in full.
    Genie's detectors know no weights.
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
    weights: dict[str, float] = {}
    for worker, weight, earlier in rows.order_by("worker").values_list(
        "worker", "weight", "earlier"
    ):
        weights[str(worker)] = weight
        weights |= {f"{worker}:{item}": own for item, own in earlier.items()}
    return weights


def weights_stamps() -> dict[str, Stamp]:
    """Give what moves whenever a pool's weights do, by pool."""
    refused = HeldExclusion.objects.filter(state=HeldExclusion.State.REFUSED)
    return stamps(
        (Standing.objects.filter(weight__lt=1), "pool", "weighed_at"),
        (Ban.objects.all(), "pool", "pk"),
        (refused, "pool", "pk"),
    )


def weight_of(weights: Mapping[str, float], worker: int, item: int | None) -> float:
    """Give how much a worker's rating of an item counts."""
    return weights.get(f"{worker}:{item}", weights.get(str(worker), 1.0))
