from typing import Any

from django.db.models import Prefetch, QuerySet

from crowd.requester.models import RequesterAssignment, RequesterBonus
from crowd.workers.models.worker import Worker


def done_for_requesters(worker: Worker) -> QuerySet[RequesterAssignment, Any]:
    bonuses = RequesterBonus.objects.order_by("pk")
    return (
        RequesterAssignment.objects.filter(
            worker__worker=worker, submitted_at__isnull=False
        )
        .select_related("hit__hit_type__requester")
        .prefetch_related(Prefetch("bonuses", queryset=bonuses))
        .order_by("-submitted_at", "-pk")
    )
