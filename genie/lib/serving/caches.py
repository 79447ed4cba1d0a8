"""The site's two caches: one shared by all processes, and one of each."""

import contextlib
import time
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.filebased import FileBasedCache
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
