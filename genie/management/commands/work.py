"""Run the queue and keep it running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import Error as DatabaseProblem
from django.db import close_old_connections, connection

from genie.lib import jobs, queue_pulse
from genie.lib.logs import one_line
from genie.schedules import SCHEDULES

ADVANCE: tuple[str, dict[str, int | str]] = ("leaderboard.jobs.advance", {})
BEAT: tuple[str, dict[str, int | str]] = ("genie.lib.queue_pulse.beat", {})


class Command(BaseCommand):
    help = (
        "Run the queue's processes, restart them when they die or stop answering, "
        "and stop them all on Ctrl-C or SIGTERM."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--quiet", action="store_true", help="print nothing but problems"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.quiet = bool(options["quiet"])
        self.stopping = False
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        jobs.install(SCHEDULES)
        while not self.stopping:
            # What was dropped when the processes died is picked up at once.
            self._tell_queue(jobs.unlock_all)
            self._tell_queue(lambda: jobs.enqueue_missing([ADVANCE]))
            self._run_cluster()

    def _run_cluster(self) -> None:
        queue_pulse.clear()
        cluster = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, sys.argv[0], "qcluster"],
            start_new_session=True,
            stdout=subprocess.DEVNULL if self.quiet else None,
        )
        self._say(f"queue started (process group {cluster.pid})")
        try:
            self._watch(cluster)
        finally:  # whatever happens here, no queue is left without its supervisor
            self._end(cluster)

    def _watch(self, cluster: subprocess.Popen[bytes]) -> None:
        started = asked = time.monotonic()
        while not self.stopping and cluster.poll() is None:
            time.sleep(0.5)
            now = time.monotonic()
            if now - asked > settings.GENIE["QUEUE_STALE_SECONDS"] / 3:
                self._tell_queue(lambda: jobs.enqueue_missing([BEAT]))
                asked = now
            if self._stale(now - started):
                self.stderr.write("The queue does not answer: restarting it.")
                return
        if not self.stopping:
            self.stderr.write(
                f"The queue ended by itself (exit code {cluster.returncode}): "
                "restarting it."
            )

    def _tell_queue(self, write: Callable[[], object]) -> None:
        """Write to the queue; a database that is away for a moment ends nothing."""
        try:
            close_old_connections()
            write()
        except DatabaseProblem as error:
            self.stderr.write(f"The database does not answer: {one_line(error)}")
            connection.close()

    def _stale(self, running: float) -> bool:
        limit: int = settings.GENIE["QUEUE_STALE_SECONDS"]
        age = queue_pulse.seconds_since_beat()
        if running < limit or (age is not None and age < limit):
            return False
        return not queue_pulse.busy()

    def _end(self, cluster: subprocess.Popen[bytes]) -> None:
        """Ask politely, then kill the whole group: a wedged queue ignores SIGTERM."""
        if cluster.poll() is None:
            cluster.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                cluster.wait(timeout=10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(cluster.pid, signal.SIGKILL)
        cluster.wait()
        if not self.stopping:
            time.sleep(1)

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _say(self, text: str) -> None:
        if not self.quiet:
            self.stdout.write(text)
