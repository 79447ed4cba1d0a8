"""The site's two caches: what all processes share, and what each keeps for itself."""

import contextlib
import time
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.filebased import FileBasedCache
from django.utils.connection import ConnectionProxy

# Pages and figures that were computed; each process keeps its own. The default cache
# holds the counts behind rate limits, which are only true when processes share them.
computed = ConnectionProxy(caches, "computed")

_CULL_EVERY_SECONDS = 60


class SharedFiles(FileBasedCache):
    """Django's cache in files, without listing its folder at each write."""

    _culled_at = float("-inf")

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Keep a result; a disk that takes nothing costs only time."""
        with contextlib.suppress(OSError):
            super().set(*args, **kwargs)

    def _cull(self) -> None:
        now = time.monotonic()
        if now - self._culled_at >= _CULL_EVERY_SECONDS:
            self._culled_at = now
            super()._cull()  # type: ignore[misc]
