"""What a process costs before it has done anything: CPU seconds and peak memory.

First of a whole site: `genie up` in an empty folder and again (CPU seconds to its first
page, MB in proportional shares after a minute without visitors, the queue's apart), the
smallest command there, and the disk that the packages of requirements/base.txt take here.

Then each start runs in processes of its own, by turns, and the smallest is told, beside a
bare Django project with the admin and the same start after importing pandas and
scipy.stats. Another commit's folder can be given to compare with:

    python -m benchmarks.bench_startup [FOLDER]
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from genie.lib.serving.processes import answers

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5

BARE = """
from django.conf import settings
settings.configure(
    INSTALLED_APPS=["django.contrib." + app for app in (
        "admin", "auth", "contenttypes", "sessions", "messages")],
    MIDDLEWARE=["django.contrib." + name for name in (
        "sessions.middleware.SessionMiddleware",
        "auth.middleware.AuthenticationMiddleware",
        "messages.middleware.MessageMiddleware")],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {"context_processors": [
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages"]}}],
    SECRET_KEY="bare", USE_TZ=True,
)
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
"""
CHECK = """
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
"""
WEB = """
from genie.wsgi import application
from django.test import Client
for address in ("/healthz", "/"):
    assert Client().get(address, headers={"host": "localhost"}).status_code == 200
"""
QUEUE = """
from genie.wsgi import application
import django_q.cluster
from django.utils.module_loading import import_string
from genie.schedules import SCHEDULES
for line in SCHEDULES:
    import_string(line.job)
"""
STARTS = {"manage.py check": CHECK, "web, first page": WEB, "queue worker": QUEUE}
ALL = "import pandas, scipy.stats, scipy.optimize, scipy.sparse.csgraph, boto3\n"


def cost(program: str, folder: Path, var: str) -> tuple[float, float]:
    """Give a fresh process's CPU seconds and its peak memory in MB."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "genie.settings",
        "DATABASE_URL": f"sqlite:///{var}/genie.sqlite3",
        "GENIE_VAR": var,
        "GENIE_DEBUG": "1",
        # as on a server, where modules have been compiled before
        "PYTHONPYCACHEPREFIX": f"{var}/compiled",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    child = subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, env=env, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{program}\nfailed in {folder}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def family(pid: int) -> list[int]:
    """List a process and all below it."""
    found = [pid]
    for one in found:
        for listed in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, listed.read_text().split())
    return found


def cpu_seconds(pid: int) -> float:
    """Add up what a process and its children that have ended used."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def share_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss: +(\d+)", text, re.M)[1]) / 1024


def site_cost(folder: Path, var: str, idle: float) -> str:
    """Start a site, open its front page, leave it alone, and stop it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "manage.py", "up", "--port", str(port)],
        cwd=folder, env={**os.environ, "GENIE_VAR": var}, stdout=subprocess.DEVNULL,
    ) as site:  # fmt: skip
        running = lambda: site.poll() is None  # noqa: E731
        if not answers(f"http://127.0.0.1:{port}/", meanwhile=running):
            raise SystemExit(f"no site in {folder}")
        seconds = sum(map(cpu_seconds, family(site.pid)))
        time.sleep(idle)
        shares = {pid: share_mb(pid) for pid in family(site.pid)}
        # the largest part
        queue = max((family(pid) for pid in shares if pid != site.pid), key=len)
        site.send_signal(signal.SIGTERM)
    return (
        f"{seconds:7.2f} CPU s{sum(shares.values()):6.0f} MB in {len(shares)} processes, "
        f"{sum(shares[pid] for pid in queue):.0f} MB of it in the {len(queue)} of the queue"
    )


def install_mb() -> float:
    """Measure what is installed of requirements/base.txt."""
    n = 0
    text = (ROOT / "requirements/base.txt").read_text("utf-8")
    for name in {*re.findall(r"^([\w.-]+)==", text, re.M)}:
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:  # of another system
            continue
        paths = [Path(str(file.locate())) for file in files]
        n += sum(512 * path.stat().st_blocks for path in paths if path.exists())
    return n / 2**20


def whole_site(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as var:
        print(f"{folder.name}: new site      {site_cost(folder, var, 60)}")
        print(f"{folder.name}: existing site {site_cost(folder, var, 60)}")
        program = """
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "clearsessions"])
"""
        costs = [cost(program, folder, var) for _ in range(ROUNDS)]
        print(f"{folder.name}: smallest command {min_of(costs)[0]:.2f} CPU s")


def main() -> None:
    for folder in (ROOT, *map(Path, sys.argv[1:])):
        whole_site(folder.resolve())
    print(f"base install: {install_mb():.0f} MB")
    folders = [Path(given).resolve() for given in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as var:
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": f"sqlite:///{var}/genie.sqlite3"},
            check=True,
        )
        cells = {("bare Django", "check"): (BARE, ROOT)}
        for name, program in STARTS.items():
            cells[name, "now"] = program, ROOT
            cells[name, "with all libraries"] = ALL + program, ROOT
            for folder in folders:
                cells[name, folder.name] = program, folder
        costs = {
            key: min_of([cost(program, folder, var) for _ in range(ROUNDS + 1)][1:])
            for key, (program, folder) in cells.items()
        }
    bare = costs["bare Django", "check"]
    print(
        f"{'':18}{'':20}{'CPU s':>7}{'bare':>7}{'now':>6}{'MB':>6}{'bare':>7}{'now':>6}"
    )
    for (name, what), (seconds, megabytes) in costs.items():
        now = costs.get((name, "now"), (seconds, megabytes))
        print(
            f"{name:18}{what:20}{seconds:7.2f}{seconds / bare[0]:6.1f}x"
            f"{seconds / now[0]:5.2f}x{megabytes:6.0f}{megabytes / bare[1]:6.1f}x"
            f"{megabytes / now[1]:5.2f}x"
        )


def min_of(costs: list[tuple[float, float]]) -> tuple[float, float]:
    seconds, megabytes = zip(*costs, strict=True)
    return min(seconds), min(megabytes)


if __name__ == "__main__":
    main()
