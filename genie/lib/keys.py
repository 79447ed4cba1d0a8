"""The site's four keys: each in its variable or file; those without are the session key.

A file has the key on its first line. The second one is the former key, for as long as
texts may be sealed with it.
"""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.core.files import locks
from django.core.management.utils import get_random_secret_key
from django.utils.functional import SimpleLazyObject

SESSION: str = "session"
QUEUE: str = "queue"
PSEUDONYM: str = "pseudonym"
REQUESTER: str = "requester"
VARIABLES = {
    SESSION: "GENIE_SECRET_KEY",
    QUEUE: "GENIE_QUEUE_KEY",
    PSEUDONYM: "GENIE_PSEUDONYM_KEY",
    REQUESTER: "GENIE_REQUESTER_KEY",
}


class Key(SimpleLazyObject):  # type: ignore[type-arg]
    """A key that is read at each use: running processes follow its rotation."""

    _wrapped = property(lambda self: self.__dict__["_setupfunc"]())

    def __bool__(self) -> bool:  # Django asks, and need not make one
        return True


def path_of(name: str) -> Path | None:
    """Return the file of a key; None if the environment has the key itself."""
    variable = VARIABLES[name]
    if file := os.environ.get(f"{variable}_FILE"):
        return Path(file)
    if os.environ.get(variable):
        return None
    var: Path = settings.VAR_DIR
    return var / f"{'secret' if name == SESSION else name}-key"


def values(name: str) -> list[str]:
    """Return a key, and its former ones."""
    if name == SESSION:
        return sealing_keys()
    path = path_of(name)
    if path is None:
        return [os.environ[VARIABLES[name]]]
    return read(path) or [str(settings.SECRET_KEY), *settings.SECRET_KEY_FALLBACKS]


def session_key() -> str:
    path = path_of(SESSION)
    if path is None:
        return os.environ[VARIABLES[SESSION]]
    return (read(path) or _make(path))[0]


def sealing_keys() -> list[str]:
    """Return the session key and its former ones, which open sealed texts."""
    path = path_of(SESSION)
    former = read(path)[1:] if path is not None else []
    return [str(settings.SECRET_KEY), *settings.SECRET_KEY_FALLBACKS, *former]


def read(path: Path) -> list[str]:
    try:
        state = path.stat()
    except FileNotFoundError:
        return []
    return _lines(path, state.st_ino, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _lines(path: Path, _inode: int, _changed: int) -> list[str]:
    return path.read_text(encoding="utf-8").strip().splitlines()


def write(path: Path, lines: Sequence[str]) -> None:
    """Replace a key's file at once: a reader finds the old or the new one."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    part.touch(mode=0o600)
    if os.geteuid() == 0:  # the site's account must be able to read it
        owner = (path if path.exists() else path.parent).stat()
        os.chown(part, owner.st_uid, owner.st_gid)
    with part.open("w", encoding="utf-8") as file:
        file.write("\n".join(lines))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _make(path: Path) -> list[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    # of processes that start together, one makes it
    with path.with_name(f"{path.name}.lock").open("a") as file:
        locks.lock(file, locks.LOCK_EX)
        if not read(path):
            write(path, [get_random_secret_key()])
    return read(path)
