"""Two hosts with a queue and a web server each, and `kill -9` for all of them in turn.

    python -m tests.crash.kills --kills 200 --seed 1

plays whole campaigns for as long as it takes to kill that many processes on
servers of its own, plays them again in peace, and says what differs: nothing, or the exit
code is 1.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from tests.deploy.hosts import ROOT, Host, engines, hosts, is_apart
from tests.shared import own_database

KINDS = (
    "supervisor", "sentinel", "idle worker", "busy worker", "web master", "web worker",
)  # fmt: skip
WORKERS, PORT = 2, 8000
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

    def __init__(self, host: Host, log: str, env: dict[str, str], *words: str) -> None:
        self.host, self.log, self.env = host, host.folder / log, env
        self.words = [*host.inside, sys.executable, *words]
        self.n_starts = 0
        self.start()

    def start(self) -> None:
        self.n_starts += 1
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.words,
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

    kinds = KINDS[:4]

    def __init__(self, host: Host, env: dict[str, str]) -> None:
        super().__init__(host, "queue.log", env, "manage.py", "work", "--quiet")

    def all_of(self, kind: str) -> list[int]:
        if kind == "supervisor":
            return [self.process.pid]
        sentinels = children(self.process.pid)
        if kind == "sentinel":
            return sentinels if len(sentinels) == 3 else []
        marks = self.host.folder.glob("queue/*/*/*/busy.*")
        busy = {int(path.suffix[1:]) for path in marks}
        below = {pid for sentinel in sentinels for pid in children(sentinel)}
        return sorted(below & busy if kind == "busy worker" else below - busy)

    def is_whole(self) -> bool:
        return len(self.all_of("idle worker")) > WORKERS

    def longest_silence(self) -> float:
        """Give how long a guard has been silent that should not be."""
        signs = [
            path.stat().st_mtime for path in self.host.folder.glob("queue/*/*/*/guard")
        ]
        return time.time() - min(signs, default=time.time())


class Web(Started):
    """One gunicorn, as docs/operating.md says."""

    kinds = KINDS[4:]

    def __init__(self, host: Host, env: dict[str, str]) -> None:
        super().__init__(
            host, "web.log", env, "-m", "gunicorn", "genie.wsgi", "--preload",
            "--bind", f"{host.address}:{PORT}", "--worker-class", "gthread",
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
        self.silence = 0.0
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
            # A job lasts for a moment: whoever wants to meet one looks often.
            pause = 0.01 if left[-1] == "busy worker" else 0.1
            while not self._kill(left[-1]) and not self.ended.wait(pause):
                self._keep()
            left.pop()
        while not self.ended.wait(0.2):
            self._keep()

    def _keep(self) -> None:
        for machine in self.machines:
            machine.keep()
            if isinstance(machine, Queue):
                self.silence = max(self.silence, machine.longest_silence())

    def _kill(self, kind: str) -> bool:
        """Kill one, unless nobody else of its like would be there meanwhile."""
        alike = [machine for machine in self.machines if kind in machine.kinds]
        found = [
            pid
            for machine in alike
            for pid in machine.all_of(kind)
            if any(other.is_whole() for other in alike if other is not machine)
        ]
        if not found:
            return False
        pid = self.rng.choice(found)
        groups = children(pid) if kind == "supervisor" else []
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # it has ended meanwhile
            return False
        self.killed[kind] += 1
        for group in groups:
            self._expect_gone(group)
        return True

    def _expect_gone(self, group: int) -> None:
        """A lane ends with its supervisor, though nobody comes to end it."""
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


@contextmanager
def machines(folder: Path, n: int = 2):
    """Start a queue and a web server on each of some hosts, and give these, too."""
    with hosts(n, folder) as made:
        started: list[Started] = []
        try:
            for host in made:
                env = host.environment(os.environ["DATABASE_URL"])
                env["GENIE_WORKERS"] = str(WORKERS)
                started += [Queue(host, env), Web(host, env)]
            yield made, started
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
    from tests.crash.people import Play, broken, counts, patient

    if not kills:
        quiet = Play(between=in_this_process)
        quiet.begin()
        for number in range(rounds):
            quiet.round(number)
        return {"rows": quiet.rows, "broken": broken(rounds, set(), set())}
    with machines(folder) as (made, started):
        people = Play([f"{host.address}:{PORT}" for host in made], think=0.05)
        people.begin()
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
        wrong = broken(n_rounds, people.acknowledged(), people.treasurer.paid)
        for machine in started:
            machine.stop()
        left = [pid for host in made for pid in host.processes()]
    return {
        "rows": people.rows,
        "broken": wrong
        | {"lanes left without a supervisor": len(killer.orphans)}
        | {"processes left": len(left)},
        "killed": dict(killer.killed),
        "counts": {"answers acknowledged": len(people.acknowledged())}
        | counts()
        | {"steps given up and retried by staff": people.n_retries}
        | {"runs of payouts acknowledged as paid": len(people.treasurer.paid)}
        | {"seconds that a guard was silent, at most": round(killer.silence)}
        | {"seconds that somebody waited, at most": round(people.longest_wait())},
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
            logs = [path.read_text()[-3000:] for path in Path(folder).glob("*/*.log")]
            raise SystemExit("\n".join(logs))
    return json.loads(done.stdout)


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
    if not is_apart():
        os.execvp("unshare", ["unshare", "--net", *sys.orig_argv])
    if asked.folder:
        found = play(asked.folder, asked.kills, asked.rounds, asked.seed, asked.pause)
        print(json.dumps(found))
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, engines(Path(folder)):
        loud, quiet = both(asked.kills, asked.rounds, asked.seed, asked.pause)
    took = time.monotonic() - began
    wrong = compare(loud, quiet)
    print(f"{len(loud['rows'])} campaigns in {took:,.0f} s, seed {asked.seed}")
    for name, n in loud["counts"].items():
        print(f"{n:8,} {name}")
    for kind in KINDS:
        print(f"{loud['killed'].get(kind, 0):8,} times kill -9: {kind}")
    for name, n in wrong.items():
        print(f"{n:8,} {name}")
    return int(any(wrong.values()) or set(loud["killed"]) != set(KINDS))


if __name__ == "__main__":
    raise SystemExit(main())
