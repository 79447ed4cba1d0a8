"""A site on this machine: the web server and the queue, started and stopped together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from types import FrameType

from genie.lib.queue import lifeline

STOP_SECONDS = 20


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


def interrupt(_number: int, _frame: FrameType | None) -> None:
    raise Stopped


class Processes:
    """Children that live as long as this process."""

    def __init__(self) -> None:
        self.children: list[subprocess.Popen[bytes]] = []
        signal.signal(signal.SIGTERM, interrupt)
        signal.signal(signal.SIGINT, interrupt)

    def start(self, *command: str) -> None:
        """Start a child in a group of its own, so that Ctrl-C reaches only us."""
        self.children.append(lifeline.start([sys.executable, *command]))

    def wait(self) -> int:
        """Wait until one child ends by itself; return its exit code."""
        while True:
            for child in self.children:
                code = child.poll()
                if code is not None:
                    return code
            time.sleep(0.3)

    def all_run(self) -> bool:
        return all(child.poll() is None for child in self.children)

    def stop(self) -> None:
        """Ask every child to stop, then make sure that none of its group is left."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for child in self.children:
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for child in self.children:
            try:
                child.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
            try:
                # the queue's own children may live on when their parent is killed
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def answers(
    url: str, seconds: float = 120, *, meanwhile: Callable[[], bool] = lambda: True
) -> bool:
    """Wait until the server at `url` answers; a busy machine may need a while.

    There is nothing to wait for once `meanwhile` says no.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and meanwhile():
        try:
            with urllib.request.urlopen(url, timeout=20):  # noqa: S310 - our own server
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False
