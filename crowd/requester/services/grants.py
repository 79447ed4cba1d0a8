"""Give a qualification."""

from __future__ import annotations

from datetime import datetime

from crowd.requester.models.account import WorkerAlias
from crowd.requester.models.qualification import Qualification, QualificationType


def grant(
    qualification_type: QualificationType,
    worker: WorkerAlias,
    value: int,
    now: datetime,
) -> None:
    """Give a worker a qualification, or another value of the one they have."""
    Qualification.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "granted": True, "granted_at": now, "reason": ""},
    )
