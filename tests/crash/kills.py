"""Two queues and two web servers on one database, and `kill -9` for all of them in turn.

    python -m tests.crash.kills --kills 200 --seed 1

plays whole campaigns for as long as it takes to kill that many processes on a PostgreSQL
server of its own, plays them again in peace, and says what differs: nothing, or the exit
code is 1.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import psycopg

from tests.shared import own_database

ROOT = Path(__file__).resolve().parent.parent.parent
KINDS = (
    "supervisor", "cluster", "sentinel", "worker", "pusher", "monitor",
    "web master", "web worker",
)  # fmt: skip
WORKERS = 2
# Long enough for a loaded machine to start a queue, short enough to see one that hangs.
STALE_SECONDS = 45


def children(pid: int) -> list[int]:
    """Give a process's children, the eldest first."""
    with suppress(OSError):
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        found = " ".join(path.read_text() for path in tasks)
        return sorted(map(int, found.split()), key=_born)
    return []


def _born(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return 0


class Started:
    """A process that is started again whenever it ends, as systemd would do it."""

    kinds: tuple[str, ...]

    def __init__(self, log: Path, env: dict[str, str], *words: str) -> None:
        self.log, self.env, self.words = log, env, words
        self.n_starts = 0
        self.start()

    def start(self) -> None:
        self.n_starts += 1
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.words],
                cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def all_of(self, kind: str) -> list[int]:
        """Give its processes of a kind."""
        raise NotImplementedError

    def is_whole(self) -> bool:
        """Tell whether it has a process of each kind of its own."""
        return all(map(self.all_of, self.kinds))

    def keep(self) -> None:
        if self.process.poll() is not None:
            self.start()

    def stop(self) -> None:
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=30)
        self.process.kill()
        self.process.wait()


class Queue(Started):
    """One `genie work`."""

    kinds = KINDS[:6]

    def __init__(self, name: str, log: Path, env: dict[str, str]) -> None:
        super().__init__(log, env, "manage.py", "work", "--quiet", "--name", name)
        self._members: dict[int, dict[str, int]] = {}

    def all_of(self, kind: str) -> list[int]:
        if kind not in self.kinds:
            return []
        if kind == "supervisor":
            return [self.process.pid]
        clusters = children(self.process.pid)[:1]
        sentinels = [child for pid in clusters for child in children(pid)[:1]]
        if kind in ("cluster", "sentinel"):
            return clusters if kind == "cluster" else sentinels
        return [pid for sentinel in sentinels for pid in self._of(sentinel, kind)]

    def _of(self, sentinel: int, kind: str) -> list[int]:
        """Tell the sentinel's children apart by the order in which it starts them."""
        found = children(sentinel)
        if sentinel not in self._members:
            if len(found) < WORKERS + 2:
                return []
            monitor, pusher = found[WORKERS : WORKERS + 2]
            self._members[sentinel] = {"monitor": monitor, "pusher": pusher}
        named = self._members[sentinel]
        if kind == "worker":
            return [pid for pid in found if pid not in named.values()]
        return [pid for pid in found if pid == named[kind]]


class Web(Started):
    """One gunicorn, as docs/operating.md says."""

    kinds = KINDS[6:]

    def __init__(self, port: int, log: Path, env: dict[str, str]) -> None:
        super().__init__(
            log, env, "-m", "gunicorn", "genie.wsgi", "--preload",
            "--bind", f"127.0.0.1:{port}", "--worker-class", "gthread",
            "--workers", "1", "--threads", "4", "--log-level", "error",
        )  # fmt: skip

    def all_of(self, kind: str) -> list[int]:
        if kind == "web master":
            return [self.process.pid]
        return children(self.process.pid) if kind == "web worker" else []


class Killer:
    """Kills processes of every kind, in an order that a seed decides."""

    def __init__(
        self, machines: list[Started], n: int, seed: int, pause: float
    ) -> None:
        self.machines, self.n, self.pause = machines, n, pause
        self.rng = random.Random(seed)
        self.killed: Counter[str] = Counter()
        self.orphans: list[int] = []
        self.ended = Event()
        self.trouble: Exception | None = None
        self._thread = Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self.ended.set()
        self._thread.join()
        if self.trouble:
            raise self.trouble

    def _run(self) -> None:
        try:
            self._kill_on()
        except Exception as error:  # noqa: BLE001 - told by `end`
            self.trouble = error

    def _kill_on(self) -> None:
        left: list[str] = []
        while self.killed.total() < self.n and not self.ended.wait(
            self.rng.uniform(0.5, 1.5) * self.pause
        ):
            left = left or self.rng.sample(KINDS, len(KINDS))
            while not self._kill(left[-1]) and not self.ended.wait(0.1):
                self._keep()
            left.pop()
        while not self.ended.wait(0.2):
            self._keep()

    def _keep(self) -> None:
        for machine in self.machines:
            machine.keep()

    def _kill(self, kind: str) -> bool:
        """Kill one, unless nobody else of its like would be there meanwhile."""
        alike = [machine for machine in self.machines if kind in machine.kinds]
        found = [
            (machine, pid)
            for machine in alike
            for pid in machine.all_of(kind)
            if any(other.is_whole() for other in alike if other is not machine)
        ]
        if not found:
            return False
        machine, pid = self.rng.choice(found)
        clusters = machine.all_of("cluster") if kind == "supervisor" else []
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # it has ended meanwhile
            return False
        self.killed[kind] += 1
        for group in clusters:
            self._expect_gone(group)
        return True

    def _expect_gone(self, group: int) -> None:
        """A cluster ends with its supervisor, though nobody comes to end it."""
        deadline = time.monotonic() + 20
        while not is_gone(group):
            if time.monotonic() > deadline:
                self.orphans.append(group)
                return
            time.sleep(0.05)


def is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def free_ports(n: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(n)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@contextmanager
def machines(folder: Path, ports: list[int]):
    """Start two queues and two web servers, as on two machines that share a disk."""
    env = {**os.environ, "GENIE_WORKERS": str(WORKERS)}
    started: list[Started] = []
    try:
        for number, port in enumerate(ports, start=1):
            started.append(
                Queue(f"queue-{number}", folder / f"queue-{number}.log", env)
            )
            started.append(Web(port, folder / f"web-{number}.log", env))
        yield started
    finally:
        for machine in started:
            machine.stop()


def set_up(folder: Path) -> None:
    os.environ.update(
        GENIE_VAR=str(folder),
        GENIE_SECRET_KEY="kills",
        GENIE_LOG_LEVEL="ERROR",
        GENIE_QUEUE_STALE_SECONDS=str(STALE_SECONDS),
        DJANGO_SETTINGS_MODULE="tests.crash.settings",
        GENIE_TEST_QUESTIONS_CHECKED="no",
    )
    import django

    django.setup()


def in_this_process() -> None:
    """Do what queues would do by now."""
    from genie.lib import jobs
    from leaderboard.evaluation.run import advance

    advance()
    jobs.drain()


def play(folder: Path, kills: int, rounds: int, seed: int, pause: float) -> dict:
    """Play until that many were killed, and at least so many rounds."""
    set_up(folder)
    from genie.lib import jobs
    from tests.crash.people import Play, broken, patient

    if not kills:
        quiet = Play(between=in_this_process)
        quiet.begin()
        for number in range(rounds):
            quiet.round(number)
        return {"rows": quiet.rows, "broken": broken(rounds, set())}
    ports = free_ports(2)
    people = Play(ports, think=0.05)
    people.begin()
    with machines(folder, ports) as started:
        killer = Killer(started, kills, seed, pause)
        killer.begin()
        while len(people.rows) < rounds or (
            killer.killed.total() < kills and not killer.trouble
        ):
            people.round(len(people.rows))
            print(f"round {len(people.rows)}: {dict(killer.killed)}", file=sys.stderr)
        killer.end()
        for machine in started:
            machine.keep()
        deadline = time.monotonic() + 120
        while patient(jobs.n_waiting) and time.monotonic() < deadline:
            time.sleep(0.05)
        n_rounds = len(people.rows)
        wrong = broken(n_rounds, people.acknowledged())
    return {
        "rows": people.rows,
        "broken": wrong | {"queues left without a supervisor": len(killer.orphans)},
        "killed": dict(killer.killed),
        "acknowledged": len(people.acknowledged()),
    }


def in_a_process(database: str, **asked: object) -> dict:
    """Play with a database and a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="genie-kills-") as folder:
        words = [word for k, v in asked.items() for word in (f"--{k}", str(v))]
        done = subprocess.run(
            [sys.executable, "-m", "tests.crash.kills", "--in", folder, *words],
            cwd=ROOT, env={**os.environ, "DATABASE_URL": database},
            stdout=subprocess.PIPE, check=False,
        )  # fmt: skip
        if done.returncode:
            logs = [path.read_text()[-3000:] for path in Path(folder).glob("*.log")]
            raise SystemExit("\n".join(logs))
    return json.loads(done.stdout)


@contextmanager
def migrated_server():
    """Run a PostgreSQL server with a migrated database, of which others are copies."""
    from benchmarks import throwaway_postgres

    with throwaway_postgres.server() as address:
        with psycopg.connect(address, autocommit=True) as server:
            server.execute("create database migrated")
        migrated = urlsplit(address)._replace(path="/migrated").geturl()
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=ROOT, env={**os.environ, "DATABASE_URL": migrated}, check=True,
        )  # fmt: skip
        os.environ |= {"DATABASE_URL": address, "GENIE_TEST_TEMPLATE": "migrated"}
        yield


def both(kills: int, rounds: int, seed: int, pause: float) -> tuple[dict, dict]:
    """Play with kills and in peace, each with a database of its own."""
    with own_database("kills") as database:
        loud = in_a_process(
            database, kills=kills, rounds=rounds, seed=seed, pause=pause
        )
    with own_database("peace") as database:
        return loud, in_a_process(database, kills=0, rounds=len(loud["rows"]))


def compare(loud: dict, quiet: dict) -> dict[str, int]:
    """Count what is wrong after the kills, and what differs from the quiet run."""
    rows = list(zip(loud["rows"], quiet["rows"], strict=True))
    return loud["broken"] | {
        "systems with another row than in peace": sum(a != b for a, b in rows)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1, help="campaigns at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=3.0, help="seconds, on average")
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.folder:
        found = play(asked.folder, asked.kills, asked.rounds, asked.seed, asked.pause)
        print(json.dumps(found))
        return 0
    began = time.monotonic()
    with migrated_server():
        loud, quiet = both(asked.kills, asked.rounds, asked.seed, asked.pause)
    took = time.monotonic() - began
    wrong = compare(loud, quiet)
    print(f"{len(loud['rows'])} campaigns in {took:,.0f} s, seed {asked.seed}")
    print(f"{loud['acknowledged']:8,} answers acknowledged")
    for kind in KINDS:
        print(f"{loud['killed'].get(kind, 0):8,} times kill -9: {kind}")
    for name, n in wrong.items():
        print(f"{n:8,} {name}")
    return int(any(wrong.values()) or set(loud["killed"]) != set(KINDS))


if __name__ == "__main__":
    raise SystemExit(main())
