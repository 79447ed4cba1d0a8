from datetime import datetime, timedelta
from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone

from genie.accounts.models import PrivateRead

Way = PrivateRead.Way
# Reloads and further pages count as one read.
_ONCE_IN = timedelta(minutes=10)


def record(
    request: HttpRequest | Any, row: Model, way: PrivateRead.Way, pool: str | None = ""
) -> None:
    """Record that this person sees a row; if that fails, the row is not shown.

    Reads of the same row in the same way within ten minutes count as one.
    """
    user = request.user
    seen = {"by_id": user.pk, "way": way, "what": f"{row._meta.label_lower} {row.pk}"}
    since = timezone.now() - _ONCE_IN
    if PrivateRead.objects.filter(**seen, at__gt=since).exists():
        return
    PrivateRead.objects.create(
        **seen, title=str(row)[:200], address=request.path[:300], pool=pool or ""
    )


def forget_before(limit: datetime) -> int:
    return int(PrivateRead.objects.filter(at__lt=limit).delete()[0])
