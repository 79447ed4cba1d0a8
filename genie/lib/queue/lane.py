"""A lane's processes, as their supervisor sees them."""

import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from typing import IO

from django.conf import settings

from genie.lib.queue import lifeline, locks, pulse, sentinel

END_SECONDS = 10


class Lane:
    def __init__(self, name: str) -> None:
        self.name = name
        self.cluster: BaseProcess | None = None
        self.lock: IO[str] | None = None
        self.started = 0.0

    def start(self, others: Sequence[IO[str] | None]) -> BaseProcess:
        """Start its cluster, which must not hold the locks of others."""
        self.lock = locks.lock_cluster(self.name)
        pulse.clear(self.name)

        def be_cluster() -> None:
            for lock in others:
                if lock:
                    lock.close()
            sentinel.run(self.name)

        # its processes inherit the lock, and share the loaded modules
        self.cluster = lifeline.fork(be_cluster)
        locks.write(self.lock, self.cluster.pid)
        self.started = time.monotonic()
        return self.cluster

    def trouble(self) -> str:
        """Return what is wrong with its processes, if anything is."""
        if self.cluster and self.cluster.exitcode is not None:
            return f"exited unexpectedly (exit code {self.cluster.exitcode})"
        stale = self.cluster and self.is_stale(time.monotonic() - self.started)
        return "is not responding" if stale else ""

    def is_stale(self, running: float) -> bool:
        limit: int = settings.GENIE["QUEUE_STALE_SECONDS"]
        # A new queue has had no time for a beat.
        if running < limit:
            return False
        guard, beat = (pulse.seconds_since(s, self.name) for s in ("guard", "beat"))
        beats = (beat is not None and beat < limit) or pulse.busy(self.name)
        return guard is None or guard > limit or not beats

    def terminate(self) -> None:
        if self.cluster and self.cluster.exitcode is None:
            self.cluster.terminate()

    def end(self, seconds: float = END_SECONDS) -> None:
        """Terminate, then kill the whole group: a stuck queue ignores SIGTERM."""
        if seconds:
            self.terminate()
        if self.cluster:
            self.cluster.join(timeout=seconds)
            lifeline.kill_group(self.cluster)
            self.cluster.join()
        if self.lock:
            self.lock.close()
        self.cluster = self.lock = None
