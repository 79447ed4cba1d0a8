"""Where django-q2 takes jobs from: claims that name their owner, and beats.

django-q2's table has no column for the owner of a claim, only the time until which it
lasts. `DatabaseBroker` writes the owner into the microseconds of that time, so that
claim and owner are one write and `release_own_claims` leaves alone what other machines
are running. Whose number it is, `owners` knows.
"""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

from django.conf import settings
from django.utils import timezone
from django_q.brokers import Broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from genie.lib.queue import pulse

Claims = list[tuple[Any, str]]
# A beat waits in no queue, so there is nothing to acknowledge.
_NO_RECEIPT = ""


class BeatingBroker(Broker):  # type: ignore[misc]  # django-q2 has no types
    """Now and then sends a job through this machine's own processes that only beats.

    A job in the shared queue would not do: any machine could take it.
    """

    last_beat = float("-inf")

    def dequeue(self) -> Claims | None:
        if pulse.supervised() and self._beat_is_due():
            self.last_beat = time.monotonic()
            return [(_NO_RECEIPT, _beat())]
        claims: Claims | None = super().dequeue()
        return claims

    def _beat_is_due(self) -> bool:
        limit: int = settings.GENIE["QUEUE_STALE_SECONDS"]
        return time.monotonic() - self.last_beat > limit / 3


class DatabaseBroker(BeatingBroker, ORM):  # type: ignore[misc]
    """Jobs in the database; each claim names its owner."""

    def timeout(self, task: OrmQ) -> datetime:
        until: datetime = super().timeout(task)
        return until.replace(microsecond=pulse.owner())


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


def _beat() -> str:
    package: str = SignedPackage.dumps(
        {
            "id": uuid.uuid4().hex,
            "name": "beat",
            "func": "genie.lib.queue.pulse.beat",
            "args": (),
            "kwargs": {},
            "started": timezone.now(),
        }
    )
    return package
