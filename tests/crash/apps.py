import os
import signal
import sys
from importlib import import_module
from pathlib import Path

from django.apps import AppConfig

# The queue's processes are forked from it.
SUPERVISOR = os.getpid()


class CrashConfig(AppConfig):
    name = "tests.crash"

    def ready(self) -> None:
        if "work" in sys.argv:
            for point in os.environ.get("GENIE_TEST_KILL_AT", "").split():
                arm(point)


def arm(point: str) -> None:
    """Kill the queue's whole process group when `module:function:before|after` is met."""
    module_name, function_name, moment = point.split(":")
    module = import_module(module_name)
    real = getattr(module, function_name)

    def wrapped(*args, **kwargs):
        if moment == "before":
            kill_once(point)
        result = real(*args, **kwargs)
        if moment == "after":
            kill_once(point)
        return result

    setattr(module, function_name, wrapped)


def kill_once(point: str) -> None:
    if os.getpid() == SUPERVISOR:
        return
    marker = Path(os.environ["GENIE_VAR"]) / "killed" / point.replace(":", "-")
    marker.parent.mkdir(exist_ok=True)
    try:
        marker.open("x").close()
    except FileExistsError:
        return
    os.killpg(os.getpgid(0), signal.SIGKILL)
