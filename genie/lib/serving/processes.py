import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess
from types import FrameType

from django.core.management.base import CommandError
from django.db import DatabaseError

from genie.lib.errors import GenieError, error_sentence
from genie.lib.queue import lifeline

STOP_SECONDS = 20


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


def interrupt(_number: int, _frame: FrameType | None) -> None:
    raise Stopped


def _exit_with_sentence(work: Callable[[], object]) -> None:
    try:
        work()
    except (GenieError, DatabaseError, OSError) as error:
        sys.exit(error_sentence(error))


class Processes:
    def __init__(self) -> None:
        self.children: list[BaseProcess] = []
        signal.signal(signal.SIGTERM, interrupt)
        signal.signal(signal.SIGINT, interrupt)

    def start(self, work: Callable[[], object]) -> BaseProcess:
        """Run `work` in a fork, in a separate group, so that Ctrl-C reaches only us."""
        with lifeline.signals_wait():  # until the child is one of those that we stop
            self.children.append(child := lifeline.fork(work))
        return child

    def do(self, work: Callable[[], object]) -> None:
        """Run `work` in a fork while the others run.

        If it fails, or another process ends meanwhile, this raises CommandError.
        """
        child = self.start(partial(_exit_with_sentence, work))
        if self.wait() is not child or child.exitcode:
            raise CommandError(
                "The site cannot start. See the lines above for the reason."
            )
        self.children.remove(child)

    def wait(self) -> BaseProcess:
        """Wait until one child ends by itself; return it."""
        while True:
            for child in self.children:
                if child.exitcode is not None:
                    return child
            time.sleep(0.1)

    def all_run(self) -> bool:
        return all(child.exitcode is None for child in self.children)

    def stop(self) -> None:
        """Stop every child, then make sure that none of its group is left."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for child in self.children:
            child.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for child in self.children:
            # ends once all of its children have ended, too
            child.join(timeout=max(0.1, deadline - time.monotonic()))
            lifeline.kill_group(child)
            child.join()


def answers(
    url: str, seconds: float = 120, *, meanwhile: Callable[[], bool] = lambda: True
) -> bool:
    """Wait until the server at `url` answers, at most some seconds.

    Stops waiting when `meanwhile` returns False.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and meanwhile():
        try:
            with urllib.request.urlopen(url, timeout=20):  # noqa: S310 - our own server
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False
