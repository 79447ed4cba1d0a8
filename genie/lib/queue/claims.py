"""Claims of jobs: extended for living processes, released for dead ones."""

from datetime import timedelta
from types import ModuleType

from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ

from genie.lib.queue import pulse


def release_own_claims() -> int:
    if elsewhere := _elsewhere():
        return int(elsewhere.release_taken())
    return release_claims_of(pulse.owner())


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


def release_claims_of(owner: int) -> int:
    now = timezone.now()
    claims = [
        claim
        for claim in OrmQ.objects.filter(lock__gt=now).values_list("pk", "lock")
        if claim[1].microsecond == owner
    ]
    # Comparing the time leaves a claim alone that another process has made meanwhile.
    return sum(
        OrmQ.objects.filter(pk=pk, lock=lock).update(lock=now) for pk, lock in claims
    )


def release_claim(receipt: str, *, after: timedelta) -> bool:
    if elsewhere := _elsewhere():
        return bool(elsewhere.put_back(receipt, after.total_seconds()))
    row = OrmQ.objects.filter(pk=receipt).first() if receipt.isdigit() else None
    if row is None or row.lock.microsecond != pulse.owner():
        return False
    mine = OrmQ.objects.filter(pk=row.pk, lock=row.lock)
    return bool(mine.update(lock=timezone.now() + after))
