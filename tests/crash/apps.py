import itertools
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
    """Kill the queue's whole process group at `module:function:before|after`.

    With `:n` behind it, a process is killed when it comes there for the n-th time.
    """
    module_name, function_name, moment, nth = [*point.split(":"), "1"][:4]
    met = itertools.count(1)
    module = import_module(module_name)
    real = getattr(module, function_name)

    def wrapped(*args, **kwargs):
        dies = next(met) == int(nth)
        if dies and moment == "before":
            kill_once(point)
        result = real(*args, **kwargs)
        if dies and moment == "after":
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
