"""The process that guards a queue's other processes, and its reaction to killed ones.

django-q2 only replaces a killed process. But a process that waits on a
`multiprocessing` queue holds its lock, and never releases it: after an idle worker is
killed, a queue returns no items. In that case all processes end, and `genie work` starts new ones. A worker killed
inside a job holds no lock: the others continue, and its job runs again.
"""

import logging
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from multiprocessing import Value
from multiprocessing.process import BaseProcess
from threading import Event, RLock, Thread
from typing import Any, cast
from uuid import uuid4

from django.conf import settings
from django.db import DatabaseError, Error, connection
from django.db.models import F
from django_q import cluster
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.signals import post_execute_in_worker, pre_execute

from genie.lib import jobs
from genie.lib.queue import pulse
from genie.lib.queue.claims import release_claim
from genie.lib.queue.waiting import WaitingJob

logger = logging.getLogger(__name__)


class Sentinel(cluster.Sentinel):  # type: ignore[misc]  # django-q2 has no types
    """Replaces processes that ended, or restarts all if that does not help."""

    def start(self) -> None:
        signal.signal(signal.SIGTERM, self._end)
        super().start()

    def _end(self, *_: object) -> None:
        self.stop_event.is_asked = True

    def spawn_process(self, target: Callable[..., object], *args: Any) -> BaseProcess:
        # what the child inherits
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        process: BaseProcess = super().spawn_process(target, *args)
        signal.signal(signal.SIGTERM, self._end)
        return process

    def spawn_worker(self) -> None:
        # A killed worker would hold a shared lock for ever, and the guard wait for it.
        timer = Value("f", -1, lock=cast(Any, RLock()))
        args = self.task_queue, self.result_queue, timer, self.timeout
        self.spawn_process(cluster.worker, *args)

    def spawn_monitor(self) -> Thread:
        thread = Thread(target=self._drop_results, daemon=True)
        thread.pid = self.pid  # type: ignore[attr-defined]
        thread.start()
        return thread

    def _drop_results(self) -> None:
        """Take them off the queue: the workers settle their jobs themselves."""
        with suppress(OSError, TypeError):  # closed at the end
            while self.result_queue.get() != "STOP":
                pass

    def status(self) -> Any:
        pulse.guard_forever()  # each round of the guard calls it
        return super().status()

    def reincarnate(self, process: BaseProcess) -> None:
        # an exit code below 0: a signal killed it
        if pulse.is_supervised() and (process.exitcode or 0) < 0:
            job = pulse.job_of_dead(process.pid or 0)
            if job is None:
                os.killpg(0, signal.SIGKILL)  # including this process
                return
            # A job that was killed for its memory must not run again at once.
            pause: int = settings.GENIE["QUEUE_STALE_SECONDS"]
            release_claim(job, after=timedelta(seconds=pause / 9))
        super().reincarnate(process)


def run(lane: str) -> None:
    """Run the lane's cluster: django-q2 reads its settings at import, before the fork."""
    Conf.CLUSTER_NAME = lane
    options = settings.Q_CLUSTER.get("ALT_CLUSTERS", {}).get(lane, {})
    for name, value in options.items():
        setattr(Conf, name.upper(), value)
    pre_execute.connect(_count_start, dispatch_uid="genie-starts")
    post_execute_in_worker.connect(_settle, dispatch_uid="genie-ends")
    # Figures that nothing reads, pickled and signed twice a second.
    cluster.Stat.save = lambda _stat: None
    # Without django-q2's Cluster, a process that only waits for this one.
    Sentinel(_Ending(), Event(), uuid4())


class _Ending:
    """A flag that a signal may set while it is waited for."""

    def __init__(self) -> None:
        self.is_asked = False

    def is_set(self) -> bool:
        return self.is_asked

    def wait(self, seconds: float) -> bool:
        time.sleep(seconds)
        return self.is_asked


def _count_start(task: dict[str, Any], **_kwargs: Any) -> None:
    row = str(task.get("ack_id", ""))
    with suppress(DatabaseError):  # the job itself reports a database that is away
        if row.isdigit():
            WaitingJob.objects.filter(row=row).update(n_starts=F("n_starts") + 1)


def _settle(task: dict[str, Any], **_kwargs: Any) -> None:
    """Settle the job here, and end this worker if no other waits in its lane.

    A new one shares its memory with others until it has something to do.
    """
    if task.get("ack_id"):
        try:
            jobs.settle(task, get_broker())
            others = WaitingJob.objects.filter(lane=Conf.CLUSTER_NAME)
            if jobs.in_database() and not others.exists():
                Conf.MAX_RSS = 1
        except Exception:
            logger.exception("Job %s cannot be settled", task["func"])
            _give_back(str(task["ack_id"]))


def _give_back(receipt: str) -> None:
    # as soon as the database answers, which may be restarting
    for _ in range(60):
        time.sleep(1)
        connection.close()
        with suppress(Error):
            release_claim(receipt, after=timedelta())
            return
