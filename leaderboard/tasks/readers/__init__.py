"""Official releases of benchmarks' test sets, one module per layout."""

from leaderboard.tasks.readers.base import (
    Release,
    ReleaseInstance,
    all_readers,
    read_release,
)

__all__ = ["Release", "ReleaseInstance", "all_readers", "read_release"]
