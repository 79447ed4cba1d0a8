"""Processes that end together with their parent, however it ends.

The parent holds one end of a pipe and never writes to it. Each child, and each of its
forks, waits at the other end in a thread: the kernel closes the pipe when the parent is
gone, even after `kill -9`.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import cast

from genie.lib.errors import GenieError

VARIABLE = "GENIE_LIFELINE"
_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def signals_wait() -> Iterator[None]:
    """Let SIGINT and SIGTERM wait: Python swallows what a handler raises during a fork.

    The mask is for the child and this thread, the handler for all other threads.
    """
    arrived: list[int] = []
    kept = {
        number: signal.signal(number, lambda number, _: arrived.append(number))
        for number in _ENDING
    }
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        for number, handler in kept.items():
            signal.signal(number, handler)
    if arrived:
        signal.raise_signal(arrived[0])


def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a program that calls `hold_on`, in a group that ends with this process."""
    reading_end, _kept_open = _pipe()
    return subprocess.Popen(  # noqa: S603 - our own commands
        command,
        # A separate session: the group can be ended whole, and Ctrl-C reaches only the
        # parent.
        start_new_session=True,
        pass_fds=[reading_end],
        env={**os.environ, VARIABLE: str(reading_end)},
    )


def fork(work: Callable[[], object]) -> BaseProcess:
    """Run `work` in a fork, in a process group that ends with this process.

    The fork shares all loaded modules and open files, so close files that only one
    process may use. Database connections are closed here.
    """
    from django.db import connections

    connections.close_all()
    process = multiprocessing.get_context("fork").Process(
        target=_work_apart, args=[work, *_pipe()]
    )
    process.start()
    return process


def kill_group(process: BaseProcess) -> None:
    try:
        os.killpg(cast(int, process.pid), signal.SIGKILL)
    except ProcessLookupError:  # it has ended, or has yet to make its group
        process.kill()


def _work_apart(work: Callable[[], object], reading_end: int, kept_open: int) -> None:
    os.setsid()
    os.close(kept_open)  # only the parent's death may leave the pipe without an owner
    _pipe.cache_clear()
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    _hold(reading_end)
    try:
        work()
    except GenieError as error:
        sys.exit(error.message)


def hold_on() -> None:
    """Kill this process group once its parent is gone."""
    if reading_end := os.environ.pop(VARIABLE, ""):
        _hold(int(reading_end))


def _hold(reading_end: int) -> None:
    def watch() -> None:
        Thread(target=_wait_and_kill, args=[reading_end], daemon=True).start()

    watch()
    os.register_at_fork(after_in_child=watch)  # threads do not survive a fork


@cache
def _pipe() -> tuple[int, int]:
    return os.pipe()


def _wait_and_kill(reading_end: int) -> None:
    os.read(reading_end, 1)  # returns when the other end is closed
    os.killpg(0, signal.SIGKILL)
