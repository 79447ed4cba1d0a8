"""How much the ratings of workers count who are not excluded."""

from collections.abc import Mapping

from django.conf import settings

from genie.lib.serving.unmoved import Stamp, stamps
from quality.bans.models import HeldExclusion
from quality.detection.models import ALL_EVIDENCE, Ban, Standing


def soft_weights(pool: str) -> dict[str, float]:
    """Return the weights below 1; read them with `weight_of`.

    A weight is the probability that a rating was given with care: one for each worker,
    and one for each rating of those who seem to have stopped reading. Excluded workers
    are missing; those whom staff decided to keep count in full. Genie's detectors have
    no weights.
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
    """Return, by pool, a stamp that changes with the pool's weights."""
    refused = HeldExclusion.objects.filter(state=HeldExclusion.State.REFUSED)
    return stamps(
        (Standing.objects.filter(weight__lt=1), "pool", "weighed_at"),
        (Ban.objects.all(), "pool", "pk"),
        (refused, "pool", "pk"),
    )


def weight_of(weights: Mapping[str, float], worker: int, item: int | None) -> float:
    return weights.get(f"{worker}:{item}", weights.get(str(worker), 1.0))
