from datetime import datetime

from django.db.models import Max
from django.db.models.functions import Coalesce, Greatest

from quality.appeals.models import Appeal
from quality.detection.models import Ban


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
