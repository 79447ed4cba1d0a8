"""Call code that reads an untrusted file in a process with limited time and memory.

Within a web process, work can neither be stopped nor its memory limited. Here the
system ends a child process that exceeds its limits, whatever the file holds. The child
starts within 50 ms, because it imports the function's module but not Django. It gets
neither the environment nor the database.
"""

import importlib
import math
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

T = TypeVar("T")

_ROOT = Path(__file__).resolve().parent.parent.parent
_TOO_MUCH = 77
_ENDED_FOR_ITS_COST = frozenset(
    {
        *(_TOO_MUCH, -signal.SIGPROF, -signal.SIGXCPU, -signal.SIGKILL),
        # libraries in C++ end so when they are refused memory
        *(-signal.SIGSEGV, -signal.SIGABRT),
    }
)


@dataclass(frozen=True)
class Limits:
    cpu_seconds: float
    memory_bytes: int
    wall_seconds: float = 20


class LimitExceeded(Exception):
    """A call exceeded its time or memory limit."""


def call_bounded(
    function: Callable[..., T],
    stream: IO[bytes],
    limits: Limits,
    *,
    with_packages: bool = False,
    **kwargs: Any,
) -> T:
    """Call a function of a pure module with a file, within limits.

    The function takes the file, from its beginning, as its first argument. Its module
    imports only the standard library and our own pure modules, or, with
    `with_packages`, installed ones such as pandas, which costs a second. Raises
    LimitExceeded if the call was too costly.
    """
    with tempfile.TemporaryFile() as child_input:
        name = (function.__module__, function.__qualname__)
        pickle.dump(
            (name, limits.cpu_seconds, limits.memory_bytes, kwargs), child_input
        )
        stream.seek(0)
        shutil.copyfileobj(stream, child_input)
        child_input.seek(0)
        try:
            # -I and -S leave out the environment and installed packages, so that the
            # child starts quickly and finds only the standard library, unless more is
            # needed.
            done = subprocess.run(  # noqa: S603 - our own program, without arguments
                [sys.executable, "-I", *([] if with_packages else ["-S"]), __file__],
                stdin=child_input,
                capture_output=True,
                timeout=limits.wall_seconds,
                # a thread for each processor would use memory that counts
                env={"OPENBLAS_NUM_THREADS": "1"} if with_packages else {},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LimitExceeded from None
    if done.returncode in _ENDED_FOR_ITS_COST:
        raise LimitExceeded
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace"))
    result: T = pickle.loads(done.stdout)  # noqa: S301 - written by our own code
    return result


def _end_after(seconds: float) -> None:
    while time.process_time() < seconds:
        time.sleep(0.02)
    os._exit(_TOO_MUCH)


def _answer() -> int:
    sys.path.insert(0, str(_ROOT))
    source = sys.stdin.buffer
    # written by `call_bounded`; the untrusted file follows
    (module, name), seconds, memory, kwargs = pickle.load(source)  # noqa: S301
    function = getattr(importlib.import_module(module), name)
    # Not RLIMIT_AS: libraries reserve far more addresses than they ever use.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    # The system's own limits count ticks, of which a busy virtual machine misses some.
    # But they also end a long step in C, during which no other thread runs.
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds),) * 2)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    # The default stack of 8 MB would count against the limit.
    threading.stack_size(256 << 10)
    threading.Thread(target=_end_after, args=(seconds,), daemon=True).start()
    try:
        answer = pickle.dumps(function(source, **kwargs))
    except MemoryError:
        return _TOO_MUCH
    sys.stdout.buffer.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(_answer())
