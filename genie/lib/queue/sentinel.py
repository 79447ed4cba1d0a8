"""The process that watches over a queue's other processes: what it does when one is killed.

django-q2 only starts another one in its place. But whoever waits for something to come
out of a queue of `multiprocessing` holds its lock, and takes it along: an idle worker or
a monitor that is killed leaves a queue that hands out nothing, or jobs that nobody takes
off the list. Then all of them end, and `genie work` starts new ones. A worker that is
killed inside a job holds no lock: the others go on, and its job is run again.
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
    """Starts others in the place of those that ended, and all anew where that is no use."""

    def status(self) -> Any:
        pulse.guarding()  # each round of the guard asks for it
        return super().status()

    def reincarnate(self, process: BaseProcess) -> None:
        if pulse.supervised() and _was_killed(process):
            job = pulse.job_of_dead(process.pid or 0)
            if job is None:
                os.killpg(0, signal.SIGKILL)  # this process included
                return
            # A job that takes so much memory that it is killed must not come at once.
            pause: int = settings.GENIE["QUEUE_STALE_SECONDS"]
            release_claim(job, after=timedelta(seconds=pause / 9))
        super().reincarnate(process)


def run() -> None:
    """Be a queue's first process, watched over like this."""
    cluster.Sentinel = Sentinel
    cluster.Cluster().start()


def _was_killed(process: BaseProcess) -> bool:
    return process.exitcode is not None and process.exitcode < 0
