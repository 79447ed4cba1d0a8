"""Hosts that are network namespaces, and the servers that they share.

`make test-deploy` runs the tests in a namespace of their own: there the servers are, and
from there a cable leads to each host.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import psycopg

from benchmarks import throwaway_postgres

ROOT = Path(__file__).resolve().parent.parent.parent
BUCKET = "genie-files"
REDIS, MOTO = 6379, 5000
# The server's own machine never loses power here.
POSTGRES = ("listen_addresses='*'", "deadlock_timeout=200ms", "fsync=off")


def is_apart() -> bool:
    """Tell whether this process may make hosts, and would make them in a room apart."""
    names = [name for _, name in socket.if_nameindex()]
    return not os.geteuid() and all(name.startswith(("lo", "genie")) for name in names)


class Host:
    """A machine with a name, an address and a folder."""

    def __init__(self, number: int, folder: Path) -> None:
        self.folder = folder / f"host-{number}"
        self.folder.mkdir()
        self.address, self.hub = f"10.77.{number}.2", f"10.77.{number}.1"
        self.keeper = subprocess.Popen(["unshare", "--net", "--uts", "sleep", "inf"])
        until = time.monotonic() + 10
        while self._space(self.keeper.pid) == self._space(os.getpid()):
            assert time.monotonic() < until
            time.sleep(0.01)
        self.space = self._space(self.keeper.pid)
        self.cable = f"genie{number}"
        ip = ["ip", "link", "add", self.cable, "type", "veth", "peer", "name", "eth0"]
        _run(*ip, "netns", str(self.keeper.pid))
        _run("ip", "addr", "add", f"{self.hub}/24", "dev", self.cable)
        _run("ip", "link", "set", self.cable, "up")
        inside = f"hostname host-{number}; ip addr add {self.address}/24 dev eth0;"
        _run(*self.inside, "sh", "-c", f"{inside} ip link set eth0 up; ip link set lo up")  # fmt: skip

    @staticmethod
    def _space(pid: int) -> str:
        with suppress(OSError):
            return str(Path(f"/proc/{pid}/ns/net").readlink())
        return ""

    @property
    def inside(self) -> list[str]:
        """Return the words before a program, which keeps the process id."""
        return ["nsenter", "--target", str(self.keeper.pid), "--net", "--uts"]

    def environment(self, database: str) -> dict[str, str]:
        """Return what a site on this host is told of the servers."""
        return {
            **os.environ,
            "GENIE_VAR": str(self.folder),
            "DATABASE_URL": database.replace("127.0.0.1", self.hub),
            "GENIE_CACHE": f"redis://{self.hub}:{REDIS}",
            "AWS_ENDPOINT_URL_S3": f"http://{self.hub}:{MOTO}",
        }

    def processes(self) -> list[int]:
        found = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
        others = (pid for pid in found if pid != self.keeper.pid)
        return [pid for pid in others if self._space(pid) == self.space]

    def cut_power(self) -> None:
        """Pull its cable, and kill everything on it."""
        # at its own end: the proxy and the servers do not notice
        _run(*self.inside, "ip", "link", "set", "eth0", "down")
        while found := self.processes():
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def close(self) -> None:
        self.cut_power()
        # sockets that await an answer keep its namespace for minutes
        _run("ip", "link", "delete", self.cable)
        self.keeper.kill()
        self.keeper.wait()


def _run(*words: str) -> None:
    subprocess.run(words, check=True)


@contextmanager
def hosts(n: int, folder: Path):
    """Run hosts; at the end nothing of them is left."""
    with ExitStack() as stack:
        made = (Host(number, folder) for number in range(1, n + 1))
        yield [stack.enter_context(closing(host)) for host in made]


@contextmanager
def engines(folder: Path):
    """Run PostgreSQL, Redis and S3, and set what this process must know of them.

    Yields PostgreSQL; DATABASE_URL is that of a migrated database.
    """
    from tests.moto_server import KEYS, client

    _run("ip", "link", "set", "lo", "up")
    cache = shutil.which("valkey-server") or shutil.which("redis-server")
    words = [cache, "--port", str(REDIS), "--protected-mode", "no", "--save", ""]
    s3 = "from moto.server import main; main()"
    with ExitStack() as stack:
        for command in (
            [*words, "--dir", str(folder)],
            [sys.executable, "-c", s3, "-H", "0.0.0.0", "-p", str(MOTO)],
        ):
            log = stack.enter_context((folder / "engines.log").open("a"))
            one = subprocess.Popen(command, stdout=log, stderr=log)
            stack.callback(one.wait)
            stack.callback(one.kill)
        database = stack.enter_context(throwaway_postgres.running(*POSTGRES))
        with (database.folder / "data/pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.77.0.0/16 trust\n")
        database.control("reload")
        address = "postgres://genie@127.0.0.1/genie"
        with psycopg.connect(database.url, autocommit=True) as server:
            server.execute("create database genie")
        bucket = f"s3://{BUCKET}/lab?region=us-east-1&addressing=path"
        os.environ |= KEYS | {
            "DATABASE_URL": address,
            "GENIE_TEST_TEMPLATE": "genie",
            "GENIE_CACHE": f"redis://127.0.0.1:{REDIS}",
            "GENIE_STORAGE": bucket,
            "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{MOTO}",
        }
        _until(lambda: client("s3", os.environ["AWS_ENDPOINT_URL_S3"]).create_bucket(Bucket=BUCKET))  # fmt: skip
        _run(sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0")
        yield database


def _until(call, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            call()
        except Exception:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return
