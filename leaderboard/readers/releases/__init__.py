"""Official releases of benchmarks' test sets, one file a layout."""

from __future__ import annotations

from leaderboard.readers.releases.base import Release, ReleaseInstance, all_readers
from leaderboard.readers.releases.read import read_release

__all__ = ["Release", "ReleaseInstance", "all_readers", "read_release"]
