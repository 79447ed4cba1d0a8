"""What one turn of a worker costs: an answer sent, the next page back.

In one process, without a server: statements of the database and milliseconds of the
processor for each turn, with few answers stored and with many. Over HTTP: milliseconds
of the servers' processors for each answer, beside Turkle's with the same items,
annotators and gunicorn. The two take turns, each time with a fresh copy of their site.

    python -m benchmarks.bench_turn                    volunteers; 0 and 20,000 answers
    python -m benchmarks.bench_turn --cents 5          paid
    ... --sql                                          the statements of the last turn
    ... --postgres                                     a throw-away PostgreSQL server
    ... --turkle FOLDER                                over HTTP; installs Turkle there
"""

import argparse
import html
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks import throwaway_postgres, world
from benchmarks.bench_requests import processor
from benchmarks.bench_worker_site import (
    _TOKEN,
    Worker,
    analyze,
    free_port,
    make_work,
    serve,
)

TURKLE = "turkle==3.1.0"
N_ANNOTATORS, N_TURNS = 20, 10
# before the measured ones: every process reads its templates, writes its queries
N_FIRST = 2
# as Turkle's documentation says, with what its image adds: WhiteNoise
TURKLE_SETTINGS = """
from pathlib import Path
SECRET_KEY = "bench"
ALLOWED_HOSTS = ["*"]
X_FRAME_OPTIONS = "SAMEORIGIN"
ROOT_URLCONF = "bench_urls"
STATIC_URL = "/static/"
STATIC_ROOT = str(Path(__file__).parent / "static")
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3",
                         "NAME": Path(__file__).parent / "db.sqlite3"}}
USE_TZ = True
INSTALLED_APPS = [
    *(f"django.contrib.{name}" for name in
      ("auth", "contenttypes", "sessions", "messages", "staticfiles")),
    "turkle", "django.contrib.admin", "guardian", "djaa_list_filter2"]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend",
                           "guardian.backends.ObjectPermissionBackend"]
MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware"]
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
        "turkle.utils.turkle_vars"]}}]
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "login", "index", "index"
TURKLE_SITE_NAME, TURKLE_AUTO_ACCEPT_DEFAULT = "Turkle", True
TURKLE_EMAIL_ENABLED, TURKLE_TEMPLATE_LIMIT, META_TAGS = False, 64, []
LOGGING = {"version": 1, "disable_existing_loggers": False,
           "root": {"level": "WARNING"}}
"""
TURKLE_URLS = """
from django.contrib import admin
from django.urls import include, path
urlpatterns = [path("", include("django.contrib.auth.urls")),
               path("admin/", admin.site.urls), path("", include("turkle.urls"))]
"""
TURKLE_WSGI = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "bench_settings"
from django.core.wsgi import get_wsgi_application
application = get_wsgi_application()
"""
# of the tasks, the first n_done are answered, by a hundred others
TURKLE_FILL = """
import bench_wsgi, json, sys
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from turkle.models import Batch, Project, Task, TaskAssignment
told = json.load(sys.stdin)
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
project = Project.objects.create(name="bench", html_template=told["page"])
batch = Batch.objects.create(name="bench", project=project, filename="bench.csv")
Task.objects.bulk_create((
    Task(batch=batch, completed=i < told["done"], input_csv_fields=row)
    for i, row in enumerate(told["rows"])), batch_size=500)
others = User.objects.bulk_create(User(username=f"other-{i}") for i in range(100))
TaskAssignment.objects.bulk_create((
    TaskAssignment(task=task, assigned_to=others[i % 100], completed=True,
                   expires_at=timezone.now(), answers={"overall": "4"})
    for i, task in enumerate(Task.objects.filter(completed=True))), batch_size=500)
ways = []
for i in range(told["annotators"]):
    client = Client()
    client.force_login(User.objects.create(username=f"worker-{i}"))
    ways.append((client.cookies["sessionid"].value,
                 f"/batch/{batch.pk}/accept_next_task/"))
print(json.dumps(ways))
"""
TURKLE_PAGE = (
    "<h1>Judge answers</h1><p>Read and say what you think.</p>"
    "<h2>Question</h2><p>${question}</p><h2>Answer</h2><p>${answer}</p>"
    "<fieldset><legend>This is a reasonable answer.</legend>"
    + "".join(
        f'<label><input type="radio" name="overall" value="{i}" required> {i}</label>'
        for i in range(1, 6)
    )
    + "</fieldset>"
)
_FRAME = re.compile(r'src="([^"]+/iframe/[^"]+)"')
# sent answers of a site's database
_STORED = {
    "Genie": "SELECT count(*) FROM crowd_assignment WHERE state = 'SUBMITTED'",
    "Turkle": "SELECT count(*) FROM turkle_taskassignment WHERE completed",
}


def answer_many(n: int) -> None:
    """Answer HITs of the campaign in the name of other workers."""
    from django.utils import timezone

    from crowd.models import HIT, Assignment, Rating, Worker

    now = timezone.now()
    others = Worker.objects.bulk_create(
        [Worker(platform_worker_id=f"O{i}", pseudonym=f"O{i}") for i in range(100)]
    )
    hits = list(HIT.objects.order_by("-pk").prefetch_related("items")[:n])
    made = Assignment.objects.bulk_create(
        [
            Assignment(hit=hit, worker=others[i % 100], state="SUBMITTED",
                       reward_cents=0, accepted_at=now, submitted_at=now, deadline_at=now)
            for i, hit in enumerate(hits)
        ],
        batch_size=2_000,
    )  # fmt: skip
    HIT.objects.filter(pk__in=HIT.objects.order_by("-pk").values("pk")[:n]).update(
        n_available=0
    )
    Rating.objects.bulk_create(
        [
            Rating(assignment=one, item=hit.items.all()[0], criterion="overall",
                   value=1, raw="1")
            for one, hit in zip(made, hits, strict=True)
        ],
        batch_size=2_000,
    )  # fmt: skip


def turn(client: Any, path: str, page: str) -> tuple[str, str]:
    token = _TOKEN.search(page)
    assert token, page[:500]
    reply = client.post(
        path,
        {
            "csrfmiddlewaretoken": token[1],
            "answer-0-0": "0.75",
            "active_seconds": "2",
        },
        headers={"accept": "application/json"},
    )
    assert reply.status_code == 200, reply.content
    return reply.json()["next"], reply.json()["page"]


def measure(session: str, path: str, n: int) -> tuple[list[int], float, list[str]]:
    """Return the statements of each turn, CPU ms of one, and the last one's SQL."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.cookies["sessionid"] = session
    page = client.get(path).content.decode()
    for _ in range(3):
        path, page = turn(client, path, page)
    start = time.process_time()
    for _ in range(n):
        path, page = turn(client, path, page)
    ms = 1000 * (time.process_time() - start) / n
    counts, last = [], []
    for _ in range(5):
        with CaptureQueriesContext(
            connection,
        ) as caught:
            path, page = turn(client, path, page)
        last = [one["sql"] for one in caught]
        counts.append(len(last))
    return counts, ms, last


class TurkleWorker(Worker):
    """One browser: what its pages load, without their pictures, styles and scripts."""

    def _one(self, path: str, page: str) -> tuple[str, str]:
        if not page:
            return self._follow(path)
        token = _TOKEN.search(page)
        assert token, page[:500]
        answer = {"csrfmiddlewaretoken": token[1], "overall": "4"}
        status, said = self._request("POST", path, self.met.answer_ms, answer)
        assert status == 302, said[:500]
        self.met.n_acknowledged += 1
        return self._follow(said)

    def _follow(self, path: str) -> tuple[str, str]:
        for _ in range(3):
            status, said = self._request("GET", path, self.met.page_ms)
            if status != 302:
                break
            path = said
        frame = _FRAME.search(said)
        if status == 200 and frame:
            address = html.unescape(frame[1])
            status, said = self._request("GET", address, self.met.page_ms)
        return path, said


def make_genie(folder: Path, n_done: int, cents: int) -> list[tuple[str, str]]:
    """Make a site with open HITs and answered ones; run in a separate process."""
    world.set_up(folder)
    from django.db import connections

    ways = make_work(N_ANNOTATORS, N_TURNS + N_FIRST + 1, n_done, cents=cents)
    answer_many(n_done)
    analyze()
    connections.close_all()
    return ways


def make_turkle(folder: Path, python: Path, n_done: int) -> list[tuple[str, str]]:
    (folder / "static").mkdir()
    (folder / "bench_settings.py").write_text(TURKLE_SETTINGS)
    (folder / "bench_urls.py").write_text(TURKLE_URLS)
    (folder / "bench_wsgi.py").write_text(TURKLE_WSGI)
    texts = world.texts(n_done + N_ANNOTATORS * (N_TURNS + N_FIRST + 1), seed=3)
    rows = [{"question": text[::-1], "answer": text} for text in texts]
    told = {"rows": rows, "done": n_done, "annotators": N_ANNOTATORS}
    made = subprocess.run(
        [python, "-c", TURKLE_FILL],
        cwd=folder,
        input=json.dumps({**told, "page": TURKLE_PAGE}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [(session, path) for session, path in json.loads(made.stdout)]


def install_turkle(folder: Path) -> Path:
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        packages = [TURKLE, "gunicorn", "whitenoise"]
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python


def ms_an_answer(
    made: Path, ways: list[tuple[str, str]], kind: type[Worker], **how: Any
) -> float:
    """Serve a copy of a site; return the servers' CPU ms for each answer.

    The annotators come one after another, so that no tool waits for a lock.
    """
    with tempfile.TemporaryDirectory(prefix="genie-turn-") as name:
        folder = Path(shutil.copytree(made, name, dirs_exist_ok=True))
        os.environ["GENIE_VAR"] = str(folder)
        port = free_port()
        site = serve(port, **({**how, "folder": folder} if how else {}))
        try:
            workers = [kind(port, way[0], i, 0) for i, way in enumerate(ways)]
            pages = [(path, "") for _, path in ways]
            for n in range(N_FIRST + N_TURNS):
                if n == N_FIRST:
                    before = processor(site.pid)
                pages = [
                    worker._one(*page)
                    for worker, page in zip(workers, pages, strict=True)
                ]
            used = processor(site.pid) - before
        finally:
            site.terminate()
            site.wait()
        troubles = [trouble for worker in workers for trouble in worker.met.troubles]
        assert not troubles, troubles[:3]
        tool = "Turkle" if how else "Genie"
        database = folder / ("db.sqlite3" if how else "genie.sqlite3")
        (stored,) = sqlite3.connect(database).execute(_STORED[tool]).fetchone()
        n_done = sum(worker.met.n_acknowledged for worker in workers)
        print(
            f"  {tool:6} {stored:6,} answers stored, {n_done} of them now", flush=True
        )
    return 1000 * used / (N_ANNOTATORS * N_TURNS)


def compare(python: Path, n_done: int, cents: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="genie-turn-") as name:
        genie, turkle = Path(name, "genie"), Path(name, "turkle")
        for folder in (genie, turkle):
            folder.mkdir()
        command = [sys.executable, "-m", "benchmarks.bench_turn", "--make", str(genie)]
        made = subprocess.run(
            [*command, "--answers", str(n_done), "--cents", str(cents)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        ways = json.loads(made.stdout)
        of_turkle = make_turkle(turkle, python, n_done)
        how: dict[str, Any] = {"application": "bench_wsgi", "python": str(python)}
        tools: dict[str, Callable[[], float]] = {
            "Genie": lambda: ms_an_answer(genie, ways, Worker),
            "Turkle": lambda: ms_an_answer(turkle, of_turkle, TurkleWorker, **how),
        }
        found: dict[str, list[float]] = {name: [] for name in tools}
        for n in range(rounds):
            for name in list(tools)[:: -1 if n % 2 else 1]:
                found[name].append(tools[name]())
    for name, ms in found.items():
        each = ", ".join(f"{one:.1f}" for one in ms)
        print(
            f"{n_done:>7,} answers: {name:6} {median(ms):.1f} CPU ms an answer "
            f"(mean {mean(ms):.1f}: {each})",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--cents", type=int, default=0)
    parser.add_argument("--sql", action="store_true")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--turkle", type=Path, help="folder of its installation")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.make:
        print(json.dumps(make_genie(asked.make, asked.answers, asked.cents)))
        return 0
    if asked.turkle:
        python = install_turkle(asked.turkle.resolve())
        os.environ.update(GENIE_SECRET_KEY="bench", GENIE_LOG_LEVEL="ERROR")
        for n in dict.fromkeys((0, asked.answers)):
            compare(python, n, asked.cents, asked.rounds)
        print(f"load {os.getloadavg()[0]:.1f}")
        return 0
    with ExitStack() as stack:
        database = throwaway_postgres.server() if asked.postgres else nullcontext("")
        if url := stack.enter_context(database):
            os.environ["DATABASE_URL"] = url
        stack.callback(shutil.rmtree, world.set_up(), ignore_errors=True)
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["testserver"]
        ways = make_work(2, asked.turns + 20, asked.answers, cents=asked.cents)
        for n, (session, path) in zip((0, asked.answers), ways, strict=True):
            if n:
                answer_many(n)
            counts, ms, last = measure(session, path, asked.turns)
            print(f"{n:>7,} answers: {counts} statements, {ms:.1f} CPU ms a turn")
        if asked.sql:
            print("\n".join(f"{i:2} {sql[:400]}" for i, sql in enumerate(last, 1)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
