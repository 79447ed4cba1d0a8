"""The material beside the repository, for the tests that use it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

SHARED = Path(
    os.environ.get("GENIE_SHARED")
    or Path(__file__).resolve().parent.parent.parent / "shared"
)


def needs_shared(test):
    """Mark a test that reads ../shared and skip it where that is not there."""
    skip = pytest.mark.skipif(
        not (SHARED / "data").is_dir(), reason="../shared is not here"
    )
    return pytest.mark.shared(skip(test))


@contextmanager
def own_database(purpose: str) -> Iterator[str]:
    """Give the address of a new database where the tests run on a server, else ''."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield ""
        return
    name = f"genie_{purpose}_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"create database {name}")
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
        server.execute(f"drop database {name} with (force)")


def sleep_long(seconds: int) -> None:
    """Be a job that takes its time."""
    time.sleep(seconds)
