"""The site's two caches: one shared by all processes, and one of each."""

import contextlib
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from inspect import getfile
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.filebased import FileBasedCache
from django.core.files import locks
from django.db.models import Count, Max, QuerySet
from django.utils.connection import ConnectionProxy

# Computed pages and figures, per process. The default cache holds the counts of rate
# limits, which are only right when processes share them.
computed = ConnectionProxy(caches, "computed")

_CULL_EVERY_SECONDS = 60


class SharedFiles(FileBasedCache):
    """Django's cache in files, without listing its folder at each write."""

    _culled_at = float("-inf")

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Store a result; a full disk only costs time."""
        with contextlib.suppress(OSError):
            super().set(*args, **kwargs)

    def _cull(self) -> None:
        now = time.monotonic()
        if now - self._culled_at >= _CULL_EVERY_SECONDS:
            self._culled_at = now
            super()._cull()  # type: ignore[misc]


# Costly results shared by all processes: concurrent requests wait for one computation.
#
# Otherwise all requests for a page just after a new score would compute the same result
# at the same time, and slow each other down.

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
        while (
            not locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)
            and time.monotonic() < give_up
        ):
            time.sleep(_PAUSE_SECONDS)
        yield


# Skip repeated checks of unchanged objects, with a few queries for all of them.
#
# Jobs that run every minute go through all objects. Their checks of a single object run
# again only if its rows have changed, or after a long time.

# Changes outside the counted rows are found after this time.
AN_HOUR = 3600
Stamp = tuple[Any, ...]


def stamps(*listed: tuple[QuerySet[Any], str, str]) -> dict[Any, Stamp]:
    """Count rows by their object, and return the newest: one query for each kind.

    Each of `listed` has the rows, the field with their object, and the one that grows.
    """
    found: dict[Any, Stamp] = {}
    for number, (rows, group, grows) in enumerate(listed):
        counted = rows.order_by().values_list(group).annotate(Count("pk"), Max(grows))
        for key, *moved in counted:
            found[key] = (*found.get(key, ()), number, *moved)
    return found


def is_unmoved(name: str, stamp: Hashable) -> bool:
    """Check whether this process found no work when the rows were the same."""
    return stamp is not None and computed.get(name) == stamp


def looked_in_vain(name: str, stamp: Hashable, seconds: int = AN_HOUR) -> None:
    """Store that there was no work; the stamp is from before the look."""
    computed.set(name, stamp, seconds)
