"""Progress of releases, so that another process can continue."""

import json
import os
import time
from pathlib import Path

from django.conf import settings

from genie.lib.queue.pieces import Kept

# Interval of saving the position in a long table, in seconds; a kill loses the rest.
NOTED_EVERY = 10.0
_FOR_US = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Notes(Kept):
    """The progress of a release, not stored without a `path`.

    The file contains the key of the pseudonyms: delete it when the release is finished.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self._path = path
        self.n_saved = 0
        self._saved_at = time.monotonic()
        self.kept = {"version": settings.VERSION}
        if path is not None and path.is_file():
            kept = json.loads(path.read_text("utf-8"))
            # a release begun by another version would have ended differently
            if kept["version"] == settings.VERSION:
                self.kept = kept

    @property
    def begun(self) -> bool:
        return len(self.kept) > 1

    @property
    def due(self) -> bool:
        return time.monotonic() - self._saved_at >= NOTED_EVERY

    def save(self, name: str = "") -> None:
        """Replace the file in one step, so that a kill leaves the former one."""
        if self._path is None:
            return
        new = self._path.with_suffix(".new")
        with os.fdopen(os.open(new, _FOR_US, 0o600), "w", encoding="utf-8") as file:
            json.dump(self.kept, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
        self.n_saved += 1
        self._saved_at = time.monotonic()
