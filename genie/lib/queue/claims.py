"""Claims of jobs: extended for living processes, released for dead ones."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from types import ModuleType
from typing import Any

from django.db.models import F
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ

from genie.lib.queue import pulse
from genie.lib.queue.waiting import WaitingJob


def release_own_claims(lanes: Sequence[str]) -> int:
    if elsewhere := _elsewhere():
        return int(elsewhere.release_taken())
    return release_claims_of(pulse.owner(), lane__in=lanes)


def forgive_starts() -> None:
    """Do not count the starts of jobs that end because this queue is stopped."""
    started = WaitingJob.objects.filter(owner=pulse.owner(), n_starts__gt=0)
    started.update(n_starts=F("n_starts") - 1)


def hold_own_claims() -> None:
    """Extend the claims of this machine's processes in an external queue."""
    if elsewhere := _elsewhere():
        elsewhere.hold_taken()


def _elsewhere() -> ModuleType | None:
    if not isinstance(Conf.SQS, dict):
        return None
    # importing boto3 is slow
    from genie.lib.queue import sqs

    return sqs


def release_claims_of(owner: uuid.UUID, **which: Any) -> int:
    claimed = WaitingJob.objects.filter(owner=owner, **which)
    now = timezone.now()
    return int(
        OrmQ.objects.filter(waitingjob__in=claimed, lock__gt=now).update(lock=now)
    )


def release_claim(receipt: str, *, after: timedelta) -> bool:
    if elsewhere := _elsewhere():
        return bool(elsewhere.put_back(receipt, after.total_seconds()))
    if not receipt.isdigit():
        return False
    mine = OrmQ.objects.filter(pk=receipt, waitingjob__owner=pulse.owner())
    return bool(mine.update(lock=timezone.now() + after))
