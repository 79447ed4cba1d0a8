"""Processes that end together with the one that started them, however it ends.

The starting process holds one end of a pipe and never writes to it. Each started
process, and each that it forks, waits at the other end in a thread: the kernel closes
the pipe when the starting process is gone, even after `kill -9`.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from functools import cache
from threading import Thread

VARIABLE = "GENIE_LIFELINE"


def start(
    command: Sequence[str], *, quiet: bool = False, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a Django command in a process group that ends when this process does.

    Parameters
    ----------
    command : sequence of str
        What to run; it must set Django up, which calls `hold_on`.
    quiet : bool
        Drop what it prints on standard output.
    pass_fds : sequence of int
        Open files to hand on.
    """
    reading_end, _kept_open = _pipe()
    return subprocess.Popen(  # noqa: S603 - our own commands
        command,
        # A session of its own: the group can be ended whole, and Ctrl-C reaches the
        # starter only.
        start_new_session=True,
        pass_fds=(reading_end, *pass_fds),
        env={**os.environ, VARIABLE: str(reading_end)},
        stdout=subprocess.DEVNULL if quiet else None,
    )


def hold_on() -> None:
    """Kill this process group once the process that started it is gone."""
    reading_end = os.environ.pop(VARIABLE, "")
    if not reading_end:
        return

    def watch() -> None:
        Thread(target=_wait_and_kill, args=[int(reading_end)], daemon=True).start()

    watch()
    os.register_at_fork(after_in_child=watch)  # threads do not survive a fork


@cache
def _pipe() -> tuple[int, int]:
    return os.pipe()


def _wait_and_kill(reading_end: int) -> None:
    os.read(reading_end, 1)  # returns when the other end is closed
    os.killpg(0, signal.SIGKILL)
