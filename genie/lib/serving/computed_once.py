"""Costly results shared by all processes: concurrent requests wait for one computation.

Otherwise all requests for a page just after a new score would compute the same result
at the same time, and slow each other down.
"""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from inspect import getfile
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from django.conf import settings
from django.core.cache import caches

# After this wait, a process computes its own result.
PATIENCE_SECONDS = 30.0
_PAUSE_SECONDS = 0.02
_N_LOCKS = 256
T = TypeVar("T")


def computed_once(key: str, compute: Callable[[], T], keep_seconds: int) -> T:
    """Return the cached result, computed by one thread of one process if missing.

    The key identifies the result and all its inputs. The result must be picklable and
    not None.
    """
    cache = caches["shared"]
    key = f"{key}-{_code(getfile(compute))}"
    kept: T | None = cache.get(key)
    if kept is None:
        with _alone(key):
            # The previous holder of the lock has most likely stored it.
            kept = cache.get(key)
            if kept is None:
                kept = compute()
                cache.set(key, kept, keep_seconds)
    return kept


@lru_cache
def _code(path: str) -> int:
    """Distinguish versions of a module: results of an older one may have another shape."""
    return crc32(Path(path).read_bytes())


@contextmanager
def _alone(key: str) -> Iterator[None]:
    """Hold the key's lock on this machine; the system frees it when its holder dies."""
    folder = settings.VAR_DIR / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    give_up = time.monotonic() + PATIENCE_SECONDS
    # A few files serve all keys: two keys that share one wait a little longer, and not
    # every result leaves a file.
    with (folder / f"{crc32(key.encode()) % _N_LOCKS}").open("wb") as file:
        while not _locked(file) and time.monotonic() < give_up:
            time.sleep(_PAUSE_SECONDS)
        yield


def _locked(file: Any) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
