"""django-q2's brokers, with owners of claims, and beats.

django-q2 takes any job, does not know whose it is, and starts one that kills its
process for ever.
"""

import time
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django_q.brokers import Broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.monitor import save_task
from django_q.signing import SignedPackage

from genie.lib.queue import pulse, waiting
from genie.lib.queue.pieces import MAX_STARTS
from genie.lib.queue.waiting import WaitingJob

Claims = list[tuple[Any, str]]
# A beat waits in no queue, so it needs no acknowledgment.
_NO_RECEIPT = ""


class BeatingBroker(Broker):  # type: ignore[misc]  # django-q2 has no types
    """Periodically sends a no-op job, the beat, through this machine's own processes.

    A job in the shared queue would not do, because any machine could take it.
    """

    last_beat = float("-inf")

    def dequeue(self) -> Claims | None:
        if pulse.is_supervised() and self._beat_is_due():
            self.last_beat = time.monotonic()
            return [(_NO_RECEIPT, _beat())]
        claims: Claims | None = super().dequeue()
        return claims

    def _beat_is_due(self) -> bool:
        limit: int = settings.GENIE["QUEUE_STALE_SECONDS"]
        return time.monotonic() - self.last_beat > limit / 3


class _Claiming(ORM):  # type: ignore[misc]
    @staticmethod
    def get_connection(list_key: str | None = None) -> Any:
        # django-q2's connects each process, even those that never use the database
        return OrmQ.objects

    def enqueue(self, payload: str) -> int | None:
        return waiting.put(payload)

    def dequeue(self) -> Claims | None:
        ORM.get_connection()  # closes one that broke
        claims = self.claim([self.list_key])
        if not claims:
            time.sleep(Conf.POLL)
        return claims

    def claim(self, lanes: Sequence[str]) -> Claims:
        """Take the oldest job that is due in these lanes, if there is one."""
        due = WaitingJob.objects.filter(lane__in=lanes).order_by("row")
        # With its lock, in one query: a lock read later may be that of another queue.
        due = due.select_related("row")
        while job := due.filter(row__lock__lte=timezone.now()).first():
            row, lock = job.row, job.row.lock
            row.payload = waiting.sign_anew(row.payload)
            until = timezone.now() + timedelta(seconds=Conf.RETRY)
            with transaction.atomic():
                # Compare and set: of two queues, one gets it.
                mine = OrmQ.objects.filter(pk=row.pk, lock=lock).update(lock=until)
                if mine and job.n_starts >= MAX_STARTS:
                    self._give_up(row)
                    continue
                if mine:
                    due.filter(pk=row.pk).update(owner=pulse.owner())
                    return [(row.pk, row.payload)]
        return []

    def _give_up(self, row: OrmQ) -> None:
        task = SignedPackage.loads(row.payload)
        problem = f"Its process died in each of {MAX_STARTS} starts."
        task.update(result=problem, success=False, stopped=timezone.now(), sync=True)
        save_task(task, self)
        self.delete(row.pk)


class DatabaseBroker(BeatingBroker, _Claiming):
    """Jobs in the database, with beats."""


def _beat() -> str:
    return str(
        SignedPackage.dumps(
            {
                "id": uuid.uuid4().hex,
                "name": "beat",
                "func": "genie.lib.queue.pulse.beat",
                "args": (),
                "kwargs": {},
                "started": timezone.now(),
            }
        )
    )
