"""Run the queue and keep it running."""

import os
import re
import signal
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import IO, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error as DatabaseProblem
from django.db import close_old_connections, connection

from genie.lib import jobs
from genie.lib.logs import one_line
from genie.lib.queue import lifeline, locks, pulse, sentinel
from genie.lib.queue.claims import release_own_claims
from genie.lib.queue.owners import Presence
from genie.schedules import SCHEDULES

_LOOK_AT_CLOCK_SECONDS = 60
ADVANCE: tuple[str, dict[str, int | str]] = ("leaderboard.jobs.advance", {})


class Command(BaseCommand):
    help = (
        "Run the queue's processes, restart them when they die or stop "
        "responding, and stop them all on Ctrl-C or SIGTERM."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--quiet", action="store_true", help="print only problems")
        parser.add_argument(
            "--name",
            default=pulse.DEFAULT_NAME,
            help="name of a second queue to run on this machine",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.quiet = bool(options["quiet"])
        self.stopping = False
        self.presence = Presence()
        os.environ[pulse.NAME_VARIABLE] = _checked_name(options["name"])
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        try:
            with locks.lock_supervisor() as lock:
                self._supervise(lock)
        except locks.QueueIsTaken as error:
            raise CommandError(error.message) from error

    def _supervise(self, own: IO[str]) -> None:
        # An earlier queue's processes have ended by then, and hold no lock of the database.
        with locks.lock_cluster():
            jobs.install(SCHEDULES)

        def be_cluster() -> None:
            own.close()  # must not outlive the supervisor
            sentinel.run()

        while not self.stopping:
            with locks.lock_cluster() as lock:
                # Jobs that were dropped when the processes died are resumed at once.
                self._tell_queue(jobs.undo_clock_jump)
                self._tell_queue(self.presence.begin)
                self._tell_queue(release_own_claims)
                self._tell_queue(lambda: jobs.enqueue_missing([ADVANCE]))
                self._run_cluster(lock, be_cluster)
        self._tell_queue(release_own_claims)
        self._tell_queue(self.presence.end)

    def _run_cluster(self, lock: IO[str], be_cluster: Callable[[], object]) -> None:
        pulse.clear()
        # its processes inherit the lock, and share the loaded modules
        cluster = lifeline.fork(be_cluster)
        locks.write(lock, cluster.pid)
        self._say(f"queue started (process group {cluster.pid})")
        try:
            self._watch(cluster)
        finally:  # in any case, no queue is left without its supervisor
            self._end(cluster)

    def _watch(self, cluster: BaseProcess) -> None:
        started = looked = time.monotonic()
        while not self.stopping and cluster.exitcode is None:
            time.sleep(0.5)
            if time.monotonic() - looked > _LOOK_AT_CLOCK_SECONDS:
                looked = time.monotonic()
                self._tell_queue(jobs.undo_clock_jump)
            if self.presence.is_due() and self._tell_queue(self.presence.beat) is False:
                # Others are at its jobs already, so it must end at once.
                lifeline.kill_group(cluster)
                self.stderr.write("This queue was taken for dead: restarting it.")
                return
            if self._stale(time.monotonic() - started):
                self.stderr.write("The queue is not responding: restarting it.")
                return
        if not self.stopping:
            self.stderr.write(
                "The queue exited unexpectedly (exit code "
                f"{cluster.exitcode}): restarting it."
            )

    def _tell_queue(self, write: Callable[[], object]) -> object:
        """Write to the queue; a temporarily unreachable database ends nothing."""
        try:
            close_old_connections()
            return write()
        except DatabaseProblem as error:
            self.stderr.write(f"The database is not responding: {one_line(error)}")
            connection.close()
            return None

    def _stale(self, running: float) -> bool:
        limit: int = settings.GENIE["QUEUE_STALE_SECONDS"]
        # A new queue has had no time for a beat.
        if running < limit:
            return False
        if not _is_younger(pulse.seconds_since("guard"), limit):
            return True
        return not (_is_younger(pulse.seconds_since("beat"), limit) or pulse.busy())

    def _end(self, cluster: BaseProcess) -> None:
        """Terminate, then kill the whole group: a stuck queue ignores SIGTERM."""
        if cluster.exitcode is None:
            cluster.terminate()
            cluster.join(timeout=10)
        lifeline.kill_group(cluster)
        cluster.join()
        # A cluster that dies at once must not be started in a busy loop.
        if not self.stopping:
            time.sleep(1)

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _say(self, text: str) -> None:
        if not self.quiet:
            self.stdout.write(text)


def _is_younger(age: float | None, limit: int) -> bool:
    return age is not None and age < limit


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise CommandError("--name must be at most 40 letters, digits, - or _.")
    return name
