"""A lock that admits one process or thread of this machine and refuses the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.files import locks


@contextmanager
def one_at_a_time(name: str) -> Iterator[bool]:
    """Yield True to the first caller, and False, without waiting, to concurrent ones.

    The lock is the system's own on an open file, so it is freed when a process dies.
    """
    folder: Path = settings.VAR_DIR / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as file:
        # closing the file releases the lock
        yield locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)
