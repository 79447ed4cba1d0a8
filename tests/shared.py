"""The material beside the repository, for the tests that use it."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("GENIE_SHARED") or ROOT.parent / "shared")


def needs_shared(test):
    """Mark a test that reads ../shared and skip it where that is not there."""
    skip = pytest.mark.skipif(
        not (SHARED / "data").is_dir(), reason="../shared is not here"
    )
    return pytest.mark.shared(skip(test))


@contextmanager
def own_database(purpose: str, *, empty: bool = False) -> Iterator[str]:
    """Give the address of a new database where the tests run on a server, else ''.

    Where tests/postgres.sh has migrated a database, the new one is a copy of it unless
    it shall be empty.
    """
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield ""
        return
    name = f"genie_{purpose}_{os.getpid()}"
    migrated = os.environ.get("GENIE_TEST_TEMPLATE", "template1")
    template = "template1" if empty else migrated
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"create database {name} template {template}")
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
        server.execute(f"drop database {name} with (force)")


def put_migrated_sqlite(path: Path) -> None:
    """Put a copy of an empty, migrated SQLite database there.

    It is made once for all tests that start processes of their own: whoever comes first
    makes it, the others wait.
    """
    # a new database has the groups of the roles, too
    roles = ROOT / "leaderboard/site/roles.py"
    migrations = [*sorted(ROOT.glob("*/migrations/*.py")), roles]
    parts = [file.name.encode() + file.read_bytes() for file in migrations]
    parts.append(" ".join(settings.INSTALLED_APPS).encode())  # others' have their own
    version = sha256(b"".join(parts)).hexdigest()
    folder = (
        Path(tempfile.gettempdir()) / f"genie-migrated-{os.getuid()}-{version[:16]}"
    )
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            address = f"sqlite:///{folder / 'empty.sqlite3'}"
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
                cwd=ROOT,
                env={**os.environ, "DATABASE_URL": address, "GENIE_VAR": str(folder),
                     "DJANGO_SETTINGS_MODULE": "genie.settings"},
                check=True,
            )  # fmt: skip
            (folder / "done").touch()
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "empty.sqlite3", path)


def sleep_long(seconds: int) -> None:
    """Be a job that takes its time."""
    time.sleep(seconds)
