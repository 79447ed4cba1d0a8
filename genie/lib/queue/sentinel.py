"""The process that guards a queue's other processes, and its reaction to killed ones.

django-q2 only replaces a killed process. But a process that waits on a
`multiprocessing` queue holds its lock, and never releases it: after an idle worker or a
monitor is killed, a queue returns no items, or finished jobs are not removed from the
list. In that case all processes end, and `genie work` starts new ones. A worker killed
inside a job holds no lock: the others continue, and its job runs again.
"""

import os
import signal
from datetime import timedelta
from multiprocessing.process import BaseProcess
from typing import Any

from django.conf import settings
from django_q import cluster

from genie.lib.queue import pulse
from genie.lib.queue.claims import release_claim


class Sentinel(cluster.Sentinel):  # type: ignore[misc]  # django-q2 has no types
    """Replaces processes that ended, or restarts all if that does not help."""

    def status(self) -> Any:
        pulse.guarding()  # each round of the guard calls it
        return super().status()

    def reincarnate(self, process: BaseProcess) -> None:
        # an exit code below 0: a signal killed it
        if pulse.supervised() and (process.exitcode or 0) < 0:
            job = pulse.job_of_dead(process.pid or 0)
            if job is None:
                os.killpg(0, signal.SIGKILL)  # including this process
                return
            # A job that was killed for its memory must not run again at once.
            pause: int = settings.GENIE["QUEUE_STALE_SECONDS"]
            release_claim(job, after=timedelta(seconds=pause / 9))
        super().reincarnate(process)


def run() -> None:
    cluster.Sentinel = Sentinel
    cluster.Cluster().start()
