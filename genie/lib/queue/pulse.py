"""The queue's pulse: files that show its supervisor that it is alive.

If an idle worker is killed, its siblings can wait for ever for a lock that is never
released (a known fault of multiprocessing queues). No exception reports it, so the
supervisor checks this pulse and restarts the whole process group.
"""

import contextlib
import os
import re
import secrets
import socket
import time
from pathlib import Path
from typing import Any
from zlib import crc32

from django.conf import settings
from django_q.signals import post_execute_in_worker, pre_execute

from genie.lib import logs

# This process's queue, of those of this machine.
NAME_VARIABLE = "GENIE_QUEUE_NAME"
DEFAULT_NAME = "main"


def folder() -> Path:
    machine = re.sub(r"[^\w.-]", "_", socket.gethostname())
    path: Path = settings.VAR_DIR / "queue" / machine / name()
    path.mkdir(parents=True, exist_ok=True)
    return path


def name() -> str:
    return os.environ.get(NAME_VARIABLE, DEFAULT_NAME)


def owner() -> int:
    """Return the number with which this queue claims jobs, below a million.

    It is drawn once per folder, because machines copied from one image may have the
    same name.
    """
    path = folder() / "owner"
    with contextlib.suppress(FileExistsError), path.open("x") as file:
        file.write(secrets.token_hex(16))
    return crc32(f"{path} {path.read_text()}".encode()) % 1_000_000


def supervised() -> bool:
    return NAME_VARIABLE in os.environ


def beat() -> None:
    """Do nothing, as a job that shows that jobs run."""
    (folder() / "beat").touch()


def guarding() -> None:
    (folder() / "guard").touch()


def seconds_since(sign: str) -> float | None:
    """Return the age in seconds of the last `beat` or `guard`; None if there was none."""
    try:
        return time.time() - (folder() / sign).stat().st_mtime
    except FileNotFoundError:
        return None


def busy() -> bool:
    """Check whether a living worker is inside a job within its time limit."""
    # A few seconds more than a job may take, so that the queue itself can end it.
    limit = time.time() - int(settings.Q_CLUSTER["timeout"]) - 5
    return any(
        path.stat().st_mtime > limit and _alive(int(path.suffix[1:]))
        for path in folder().glob("busy.*")
    )


def job_of_dead(pid: int) -> str | None:
    mark = folder() / f"busy.{pid}"
    try:
        return mark.read_text()
    except FileNotFoundError:
        return None
    finally:
        mark.unlink(missing_ok=True)


def clear() -> None:
    for path in folder().glob("busy.*"):
        path.unlink(missing_ok=True)


def listen() -> None:
    """Mark the beginning and end of each job of this process's workers."""
    pre_execute.connect(_mark, dispatch_uid="genie-pulse")
    post_execute_in_worker.connect(_unmark, dispatch_uid="genie-pulse")


def _mark(task: dict[str, Any], **_kwargs: Any) -> None:
    logs.working_on(job=str(task.get("id")), func=str(task.get("func")))
    (folder() / f"busy.{os.getpid()}").write_text(str(task.get("ack_id", "")))


def _unmark(**_kwargs: Any) -> None:
    logs.working_on()
    beat()  # any finished job shows life; beats may wait behind thousands
    (folder() / f"busy.{os.getpid()}").unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
