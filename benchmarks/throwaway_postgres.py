"""A PostgreSQL server on a Unix socket, gone with everything in it afterwards."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def programs() -> Path | None:
    """Find the folder of initdb and pg_ctl, or None where there is no server."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


@dataclass(frozen=True)
class Server:
    """A server that runs: where its socket is, and what starts and stops it."""

    folder: Path
    control: Callable[..., None]

    @property
    def url(self) -> str:
        return f"postgres://genie@{str(self.folder).replace('/', '%2F')}/postgres"


@contextmanager
def running(*options: str) -> Iterator[Server]:
    """Run a server; `control("restart", "-m", "fast")` is what pg_ctl does."""
    folder = Path(tempfile.mkdtemp(prefix="genie-pg-", dir="/tmp"))
    data, log = folder / "data", folder / "log"
    asked = programs()
    if asked is None:
        raise SystemExit("There is no PostgreSQL server here (no initdb).")
    run = _as_owner(folder)

    def control(*words: str, check: bool = True) -> None:
        run(asked / "pg_ctl", "-D", data, "-w", "-l", log, *words, check=check)

    try:
        # Their sync would wait for whatever else writes here; the server's own does not.
        run(
            asked / "initdb",
            "-D",
            data,
            "-A",
            "trust",
            "-U",
            "genie",
            "-E",
            "UTF8",
            "-N",
        )
        own = ("listen_addresses=''", f"unix_socket_directories='{folder}'", *options)
        with (data / "postgresql.conf").open("a") as settings:  # every start reads it
            settings.writelines(f"{one}\n" for one in own)
        control("start")
        yield Server(folder, control)
    finally:
        control("-m", "immediate", "stop", check=False)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def server() -> Iterator[str]:
    """Run a server with its usual care for data; give the URL of its database."""
    with running() as one:
        yield one.url


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
