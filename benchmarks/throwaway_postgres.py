"""A PostgreSQL server on a Unix socket, gone with everything in it afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path | None:
    """Find the folder of initdb and pg_ctl, or None where there is no server."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


@contextmanager
def server() -> Iterator[str]:
    """Run a server with its usual care for data; give the URL of its database."""
    folder = Path(tempfile.mkdtemp(prefix="genie-pg-", dir="/tmp"))
    data, log = folder / "data", folder / "log"
    asked = programs()
    if asked is None:
        raise SystemExit("There is no PostgreSQL server here (no initdb).")
    run = _as_owner(folder)
    try:
        run(asked / "initdb", "-D", data, "-A", "trust", "-U", "genie", "-E", "UTF8")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
        run(asked / "pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        yield f"postgres://genie@{str(folder).replace('/', '%2F')}/postgres"
    finally:
        run(asked / "pg_ctl", "-D", data, "-m", "immediate", "stop", check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _as_owner(folder: Path):
    """Give a function that runs a program as somebody whom PostgreSQL runs for."""
    before = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        before = ["runuser", "-u", "postgres", "--"]

    def run(*command: object, check: bool = True) -> None:
        words = [*before, *map(str, command)]
        subprocess.run(words, check=check, cwd="/", stdout=subprocess.DEVNULL)

    return run
