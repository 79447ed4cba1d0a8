"""django-q2's brokers, with owners of claims, and beats.

django-q2's table has no column for the owner of a claim, only its end. `DatabaseBroker`
stores the owner in the microseconds of that time. So claim and owner are one write, and
`claims` leaves alone what other machines are running. `owners` maps the numbers to
machines.
"""

import time
import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from django_q.brokers import Broker
from django_q.brokers.orm import ORM
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from genie.lib.queue import pulse

Claims = list[tuple[Any, str]]
# A beat waits in no queue, so it needs no acknowledgment.
_NO_RECEIPT = ""


class BeatingBroker(Broker):  # type: ignore[misc]  # django-q2 has no types
    """Periodically sends a no-op job, the beat, through this machine's own processes.

    A job in the shared queue would not do, because any machine could take it.
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
    def timeout(self, task: OrmQ) -> datetime:
        until: datetime = super().timeout(task)
        return until.replace(microsecond=pulse.owner())


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
