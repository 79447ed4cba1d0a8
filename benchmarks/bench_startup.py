"""What a process costs before it has done anything: CPU seconds and peak memory.

Each start runs in processes of its own, by turns, and the smallest is told, beside a
bare Django project with the admin and the same start after importing pandas and
scipy.stats. Another commit's folder can be given to compare with:

    python -m benchmarks.bench_startup [FOLDER]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

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


def main() -> None:
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
