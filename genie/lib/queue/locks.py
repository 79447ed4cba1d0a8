"""One queue per folder and machine, without remains of earlier ones."""

import contextlib
import os
import signal
import time
from typing import IO

from django.core.files import locks

from genie.lib.errors import GenieError
from genie.lib.queue import pulse

_PATIENCE_SECONDS = 10


class QueueIsTaken(GenieError):
    code = "queue-taken"


def lock_supervisor() -> IO[str]:
    """Become the one supervisor of this folder; the kernel unlocks when it ends."""
    # Opened without truncating it, because the lock's holder has written its process
    # id.
    file = (pulse.folder() / "supervisor").open("a+")
    if not locks.lock(file, locks.LOCK_EX | locks.LOCK_NB):
        raise QueueIsTaken(
            "The queue is already running on this machine (process "
            f"{_content(file)}). Raise GENIE_WORKERS for more processes, or use "
            "another --name to run a second queue."
        )
    write(file, os.getpid())
    return file


def lock_cluster(lane: str) -> IO[str]:
    """Lock the file that the lane's processes inherit; end those that still hold it.

    They hold the lock together until the last of them ends. So any holder belongs to an
    earlier cluster, and the group in the file is certainly that cluster's.
    """
    file = (pulse.lane_folder(lane) / "cluster").open("a+")
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not locks.lock(file, locks.LOCK_EX | locks.LOCK_NB):
        group = _content(file)
        if time.monotonic() > deadline:
            raise QueueIsTaken(
                "Processes of an earlier queue are not stopping (process group "
                f"{group})."
            )
        if group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(group), signal.SIGKILL)
        time.sleep(0.1)
    write(file, "")
    return file


def write(file: IO[str], content: object) -> None:
    file.truncate(0)
    file.write(str(content))
    file.flush()


def _content(file: IO[str]) -> str:
    file.seek(0)
    return file.read()
