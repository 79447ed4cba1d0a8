"""Let one process or thread of this machine in at a time, and turn the others away."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.files import locks


@contextmanager
def one_at_a_time(name: str) -> Iterator[bool]:
    """Give True to whoever comes first; False, without waiting, to whoever comes meanwhile.

    The lock is the system's own on an open file, so a process that dies gives it back.
    """
    folder: Path = settings.VAR_DIR / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as file:
        # closing the file gives the lock back
        yield locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)
