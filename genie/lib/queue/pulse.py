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
import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django_q.conf import Conf
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


def lane_folder(lane: str = "") -> Path:
    path = folder() / (lane or Conf.CLUSTER_NAME)
    path.mkdir(exist_ok=True)
    return path


def owner() -> uuid.UUID:
    """Return the id with which this queue claims jobs.

    It is drawn once per folder, because machines copied from one image may have the
    same name.
    """
    path = folder() / "owner"
    with contextlib.suppress(FileExistsError), path.open("x") as file:
        file.write(secrets.token_hex(16))
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{path} {path.read_text()}")


def is_supervised() -> bool:
    return NAME_VARIABLE in os.environ


def beat() -> None:
    """Do nothing, as a job that shows that jobs run."""
    (lane_folder() / "beat").touch()


def guard_forever() -> None:
    (lane_folder() / "guard").touch()


def seconds_since(sign: str, lane: str = "") -> float | None:
    """Return the age in seconds of the last `beat` or `guard`; None if there was none."""
    try:
        return time.time() - (lane_folder(lane) / sign).stat().st_mtime
    except FileNotFoundError:
        return None


def busy(lane: str = "") -> bool:
    """Check whether a living worker of the lane is inside a job within its time limit."""
    # A few seconds more than a job may take, so that the queue itself can end it.
    limit = time.time() - int(settings.Q_CLUSTER["timeout"]) - 5
    return any(
        path.stat().st_mtime > limit and _alive(int(path.suffix[1:]))
        for path in lane_folder(lane).glob("busy.*")
    )


def job_of_dead(pid: int) -> str | None:
    mark = lane_folder() / f"busy.{pid}"
    try:
        return mark.read_text()
    except FileNotFoundError:
        return None
    finally:
        mark.unlink(missing_ok=True)


def clear(lane: str) -> None:
    for path in lane_folder(lane).glob("busy.*"):
        path.unlink(missing_ok=True)


def listen() -> None:
    """Mark the beginning and end of each job of this process's workers."""
    pre_execute.connect(_mark, dispatch_uid="genie-pulse")
    post_execute_in_worker.connect(_unmark, dispatch_uid="genie-pulse")


def _mark(task: dict[str, Any], **_kwargs: Any) -> None:
    logs.working_on(job=str(task.get("id")), func=str(task.get("func")))
    (lane_folder() / f"busy.{os.getpid()}").write_text(str(task.get("ack_id", "")))


def _unmark(**_kwargs: Any) -> None:
    logs.working_on()
    beat()  # any finished job shows life; beats may wait behind thousands
    (lane_folder() / f"busy.{os.getpid()}").unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
