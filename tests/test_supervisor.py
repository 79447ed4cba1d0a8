"""The real supervisor is killed: nothing of its queue stays, and work goes on."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.shared import own_database, put_migrated_sqlite

ROOT = Path(__file__).resolve().parent.parent

# A busy machine takes its time to import everything.
START_SECONDS = 240
N_WAITING = "print(jobs.n_waiting())"

pytestmark = pytest.mark.slow


class Installation:
    """A folder and a database of its own, and the commands that run on them."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "genie.settings",
            "GENIE_VAR": str(folder),
            "GENIE_SECRET_KEY": "supervisor",
            "GENIE_LOG_LEVEL": "ERROR",
        }
        self.env.pop("DATABASE_URL", None)
        if database:
            self.env["DATABASE_URL"] = database

    def manage(self, *words: str, check: bool = True) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT, env=self.env, capture_output=True, text=True, check=check,
        )  # fmt: skip

    def shell(self, code: str) -> str:
        return self.manage("shell", "--no-imports", "-c", code).stdout.strip()

    def start(self, *words: str) -> subprocess.Popen:
        with self.log.open("a") as log:
            return subprocess.Popen(
                [sys.executable, "manage.py", "work", *words],
                cwd=ROOT, env=self.env, stdout=log, stderr=log,
            )  # fmt: skip

    def clusters(self) -> set[int]:
        return {group for _pid, group in self.queue_processes()}

    def queue_processes(self) -> list[tuple[int, int]]:
        """List this installation's queue processes: (process, its group)."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                environ = (entry / "environ").read_bytes().split(b"\0")
                group = os.getpgid(int(entry.name))
                # the supervisor is of our own group
                if (
                    b"work" in words
                    and self._mark in environ
                    and group != os.getpgid(0)
                ):
                    found.append((int(entry.name), group))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found

    def all_stopped(self) -> bool:
        """Tell whether every thread stands still.

        A signal reaches a process by one of its threads: the one that watches the
        supervisor may go on for as long as that one gets no processor.
        """
        states = [
            status.read_text().split("State:")[1].split()[0]
            for pid, _group in self.queue_processes()
            for status in Path(f"/proc/{pid}/task").glob("*/status")
        ]
        return set(states) == {"T"}

    @property
    def _mark(self) -> bytes:
        return f"GENIE_VAR={self.folder}".encode()

    def wait(self, condition, what: str, seconds: float = START_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"{what}\n{self.log.read_text()}"
            time.sleep(0.1)

    def enqueue(self) -> None:
        job = "jobs.enqueue('genie.lib.jobs.forget_old', days=3)"
        assert self.shell(f"from genie.lib import jobs; {job}; {N_WAITING}") != "0"

    def wait_until_done(self) -> None:
        done = lambda: self.shell(f"from genie.lib import jobs; {N_WAITING}") == "0"  # noqa: E731
        self.wait(done, "the job was not done", 90)

    def wait_until_running(self) -> None:
        # of each lane: the guard, a worker and the pusher
        self.wait(lambda: len(self.queue_processes()) >= 9, "the queue did not start")


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc to see the processes")
    with own_database("supervisor") as database:
        made = Installation(tmp_path_factory.mktemp("var"), database)
        if database:
            made.manage("migrate", "--verbosity", "0")
        else:
            put_migrated_sqlite(made.folder / "genie.sqlite3")
        yield made


@pytest.fixture
def installation(migrated):
    yield migrated
    for pid, _group in migrated.queue_processes():
        os.kill(pid, signal.SIGKILL)
    migrated.log.unlink(missing_ok=True)


@contextmanager
def stopped_at_the_end(*processes):
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait(timeout=30)


def kill(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=10)


def test_a_killed_supervisor_takes_its_queue_along_and_the_next_finishes_the_work(
    installation,
):
    first = installation.start()
    with stopped_at_the_end(first):
        installation.wait_until_running()
        kill(first)
        installation.wait(
            lambda: not installation.queue_processes(), "processes were left", 5
        )
    second = installation.start()
    with stopped_at_the_end(second):
        installation.wait_until_running()
        assert len(installation.clusters()) == 3
        installation.enqueue()
        installation.wait_until_done()


FAKETIME = [*Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")]


@pytest.mark.skipif(not FAKETIME, reason="faketime is not installed")
def test_jobs_are_done_at_a_clock_a_day_off_and_when_it_is_right_again(
    installation, monkeypatch
):
    # the right clock, then, is a day behind what the database says
    for clock in ({"LD_PRELOAD": str(FAKETIME[0]), "FAKETIME": "+1d"}, {}):
        monkeypatch.setattr(installation, "env", {**installation.env, **clock})
        installation.enqueue()
        queue = installation.start()
        with stopped_at_the_end(queue):
            installation.wait_until_done()
            kill(queue)
            installation.wait(lambda: not installation.queue_processes(), "left", 5)
        monkeypatch.undo()


def test_even_without_the_cluster_s_first_process_nobody_is_left(installation):
    supervisor = installation.start()
    with stopped_at_the_end(supervisor):
        installation.wait_until_running()
        group = min(installation.clusters())
        os.kill(supervisor.pid, signal.SIGSTOP)  # it must not mend what is broken now
        os.kill(group, signal.SIGKILL)
        kill(supervisor)
        installation.wait(
            lambda: not installation.queue_processes(), "processes were left", 5
        )


def test_a_second_supervisor_on_this_machine_is_refused_unless_it_has_a_name(
    installation,
):
    first = installation.start()
    with stopped_at_the_end(first):
        installation.wait_until_running()
        refused = installation.manage("work", check=False)
        assert refused.returncode == 1
        assert f"process {first.pid}" in refused.stderr
        assert "--name" in refused.stderr
        assert len(installation.clusters()) == 3
        named = installation.start("--name", "second")
        with stopped_at_the_end(named):
            installation.wait(
                lambda: len(installation.clusters()) == 6, "no second queue"
            )


def test_processes_that_an_earlier_queue_left_are_ended_at_the_start(installation):
    first = installation.start()
    with stopped_at_the_end(first):
        installation.wait_until_running()
        orphans = installation.clusters()
        # too stiff to see that their supervisor dies
        for group in orphans:
            os.killpg(group, signal.SIGSTOP)
        installation.wait(installation.all_stopped, "processes were not stopped", 60)
        kill(first)
        time.sleep(1)
        assert installation.clusters() == orphans
    second = installation.start()
    with stopped_at_the_end(second):
        installation.wait(
            lambda: len(installation.clusters() - orphans) == 3, "no new queue"
        )
        assert len(installation.clusters()) == 3


def test_money_overtakes_a_long_job_which_a_stopped_supervisor_gives_back(installation):
    supervisor = installation.start()
    with stopped_at_the_end(supervisor):
        installation.wait_until_running()
        installation.shell(
            "from genie.lib import jobs; from genie.lib.queue import lanes;"
            "lanes.LANES['tests.shared.sleep_long'] = 'long';"
            "jobs.enqueue('tests.shared.sleep_long', seconds=540)"
        )
        locked = (
            "from django.utils import timezone; from django_q.models import OrmQ;"
            "taken = OrmQ.objects.filter(lock__gt=timezone.now());"
            "print(sum('sleep_long' in str(job.func()) for job in taken))"
        )
        installation.wait(
            lambda: installation.shell(locked) != "0", "the job was not taken"
        )
        # another lane; the shell itself takes seconds to start and to look
        paid = (
            "import time; from genie.lib import jobs; from django_q.models import OrmQ;"
            "jobs.enqueue('crowd.jobs.plan_payouts'); began = time.monotonic()\n"
            "while OrmQ.objects.filter(key='money').exists(): time.sleep(0.1)\n"
            "print(time.monotonic() - began)"
        )
        seconds = float(installation.shell(paid))
        print(f"\na payment beside a job of nine minutes: {seconds:.1f} s")
        assert seconds < 5
        supervisor.send_signal(signal.SIGTERM)
        supervisor.wait(timeout=40)
        assert installation.shell(locked) == "0"
