"""Run the queue and keep it running."""

import gc
import os
import re
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import IO, Any

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseProblem
from django.db import close_old_connections, connection

from genie.lib import jobs
from genie.lib.logs import one_line
from genie.lib.queue import heap, lanes, locks, pulse
from genie.lib.queue.claims import forgive_starts, release_own_claims
from genie.lib.queue.lane import END_SECONDS, Lane
from genie.lib.queue.owners import Presence
from genie.management import RefusingCommand
from genie.schedules import SCHEDULES

_LOOK_AT_CLOCK_SECONDS = 30
ADVANCE: tuple[str, dict[str, int | str]] = ("leaderboard.jobs.advance", {})


class Command(RefusingCommand):
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
        self.looked = time.monotonic()
        self.presence = Presence()
        os.environ[pulse.NAME_VARIABLE] = _checked_name(options["name"])
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        with locks.lock_supervisor() as lock:
            self._supervise(lock)

    def _supervise(self, own: IO[str]) -> None:
        self.lanes = [Lane(name) for name in lanes.names()]
        # An earlier queue's processes have ended by then, and hold no lock of the database.
        for lane in self.lanes:
            locks.lock_cluster(lane.name).close()
        jobs.install(SCHEDULES)
        self._tell_queue(self.presence.begin)
        connection.close()
        gc.collect()
        heap.fill_gaps()
        gc.freeze()  # a collector in a child would copy all that it shares
        try:
            while not self.stopping:
                self._start_missing(own)
                time.sleep(0.5)
                self._watch()
        finally:  # in any case, no queue is left without its supervisor
            self._end()
        self._tell_queue(forgive_starts)
        self._tell_queue(partial(release_own_claims, lanes.names()))
        self._tell_queue(self.presence.end)

    def _start_missing(self, own: IO[str]) -> None:
        missing = [lane for lane in self.lanes if lane.cluster is None]
        if missing:
            self._tell_queue(jobs.undo_clock_jump)
            # Jobs that were dropped when the processes died are resumed at once, which
            # waits for a database that is away.
            if (
                self._tell_queue(
                    partial(release_own_claims, [lane.name for lane in missing])
                )
                is None
            ):
                return
            self._tell_queue(lambda: jobs.enqueue_missing([ADVANCE]))
        # One after the other, so that they share what this process then changes.
        for lane in missing:
            cluster = lane.start([own, *(other.lock for other in self.lanes)])
            self._say(f"queue {lane.name} started (process group {cluster.pid})")

    def _watch(self) -> None:
        if time.monotonic() - self.looked > _LOOK_AT_CLOCK_SECONDS:
            self.looked = time.monotonic()
            self._tell_queue(jobs.undo_clock_jump)
            self._tell_queue(jobs.queue_periodic)
        if self.presence.is_due() and self._tell_queue(self.presence.beat) is False:
            # Others are at its jobs already, so it must end at once.
            self.stderr.write("This queue stopped responding: restarting it.")
            for lane in self.lanes:
                lane.end(seconds=0)
            self._tell_queue(self.presence.begin)
        for lane in self.lanes:
            if not self.stopping and (trouble := lane.trouble()):
                self.stderr.write(f"The queue {lane.name} {trouble}: restarting it.")
                lane.end()
                # A cluster that dies at once must not be started in a busy loop.
                time.sleep(1)

    def _end(self) -> None:
        for lane in self.lanes:
            lane.terminate()
        deadline = time.monotonic() + END_SECONDS
        for lane in self.lanes:
            lane.end(max(0.1, deadline - time.monotonic()))

    def _tell_queue(self, write: Callable[[], object]) -> object:
        """Write to the queue; a temporarily unreachable database ends nothing."""
        try:
            close_old_connections()
            return write()
        except DatabaseProblem as error:
            self.stderr.write(f"The database is not responding: {one_line(error)}")
            connection.close()
            return None

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _say(self, text: str) -> None:
        if not self.quiet:
            self.stdout.write(text)


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise CommandError("--name must be at most 40 letters, digits, - or _.")
    return name
