"""Claims of jobs: keep those of living processes, give those of dead ones back."""

from datetime import timedelta
from types import ModuleType

from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ

from genie.lib.queue import pulse


def release_own_claims() -> int:
    """Make the jobs claimable again that this machine's dead processes had claimed."""
    if elsewhere := _elsewhere():
        return int(elsewhere.release_taken())
    return release_claims_of(pulse.owner())


def hold_own_claims() -> None:
    """Keep what a queue elsewhere has handed out to this machine's processes."""
    if elsewhere := _elsewhere():
        elsewhere.hold_taken()


def _elsewhere() -> ModuleType | None:
    """Give what knows of a queue elsewhere; None where jobs wait in the database."""
    if not isinstance(Conf.SQS, dict):
        return None
    # boto3 takes long to import
    from genie.lib.queue import sqs

    return sqs


def release_claims_of(owner: int) -> int:
    """Make the jobs claimable again that a queue without processes had claimed."""
    now = timezone.now()
    claims = [
        claim
        for claim in OrmQ.objects.filter(lock__gt=now).values_list("pk", "lock")
        if claim[1].microsecond == owner
    ]
    # Comparing the time leaves a claim alone that somebody else has taken meanwhile.
    return sum(
        OrmQ.objects.filter(pk=pk, lock=lock).update(lock=now) for pk, lock in claims
    )


def release_claim(receipt: str, *, after: timedelta) -> bool:
    """Make one job claimable again in a while, if it is still this queue's."""
    if elsewhere := _elsewhere():
        return bool(elsewhere.put_back(receipt, after.total_seconds()))
    row = OrmQ.objects.filter(pk=receipt).first() if receipt.isdigit() else None
    if row is None or row.lock.microsecond != pulse.owner():
        return False
    mine = OrmQ.objects.filter(pk=row.pk, lock=row.lock)
    return bool(mine.update(lock=timezone.now() + after))
