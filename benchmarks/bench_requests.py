"""Requests a second of the pages that are asked for most, over HTTP, while answers come.

The site is filled with years of work and served as docs/operating.md says, by two
processes. Visitors ask for one page at a time, each as soon as the last one came, from
addresses of their own; meanwhile somebody answers a HIT of the board's task. The clients
run on the same machine, so there is more to a server of its own; `processor` is what
the web processes used for one request, in milliseconds, whoever else was busy.

    python -m benchmarks.bench_requests                            SQLite
    python -m benchmarks.bench_requests --postgres                 a throw-away server
    GENIE_CACHE=database python -m benchmarks.bench_requests ...   with the shared cache
"""

import argparse
import http.client
import itertools
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from threading import Event, Thread

import numpy as np

from benchmarks import throwaway_postgres, world
from benchmarks.bench_worker_site import free_port, serve
from benchmarks.years.size import Size, slug

Answer = tuple[int, float]


def pages(size: Size) -> dict[str, tuple[str, str]]:
    """Give what is asked for: a name, its path, and the cookie of who asks."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    from crowd.models import Worker
    from crowd.workers.services.invitations import give_consent

    worker = Worker.objects.get(pk=1)
    worker.user = get_user_model().objects.create(username="known")
    worker.save()
    for task in range(size.tasks):
        give_consent(worker, slug(task))
    client = Client()
    client.force_login(worker.user)
    session = f"sessionid={client.cookies['sessionid'].value}"
    return {
        "board": (f"/tasks/{slug(0)}/", ""),
        "API's board": (f"/api/v1/tasks/{slug(0)}/leaderboard/", ""),
        "front page": ("/", ""),
        "tasks": ("/tasks/", ""),
        "worker's home": ("/work/", session),
    }


def visit(
    port: int, path: str, cookie: str, visitor: int, until: float
) -> list[Answer]:
    """Ask for a page again and again; give each status and its milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    found = []
    for n in itertools.count():
        if time.perf_counter() > until:
            connection.close()
            return found
        # many visitors and not one, whom limits would stop
        address = f"10.{visitor}.{n // 250 % 250}.{n % 250}"
        headers = {"X-Forwarded-For": address, **({"Cookie": cookie} if cookie else {})}
        start = time.perf_counter()
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        response.read()
        found.append((response.status, 1000 * (time.perf_counter() - start)))
    raise AssertionError


def answers_come(size: Size, every: float, over: Event) -> None:
    """Let somebody answer a HIT of the first task every so often."""
    from django.db import connections

    from benchmarks.years.questions import answer_of

    while not over.wait(every):
        answer_of(size, 0)
    connections.close_all()


def processor(site: int) -> float:
    """Tell the seconds that the processes of the site have used."""
    children = Path(f"/proc/{site}/task/{site}/children").read_text().split()
    tasks = [t for child in children for t in Path(f"/proc/{child}/task").iterdir()]
    return sum(int((t / "schedstat").read_text().split()[0]) for t in tasks) / 1e9


def report(name: str, answers: list[Answer], seconds: float, used: float) -> None:
    times = [ms for _, ms in answers]
    of = " | ".join(f"{ms:.0f}" for ms in np.percentile(times, [50, 95, 99]))
    each = 1000 * used / len(times)
    print(f"| {name} | {len(times) / seconds:.0f} | {of} | {each:.1f} |", flush=True)
    if wrong := [status for status, _ in answers if status != 200]:
        raise SystemExit(f"{len(wrong)} answers of {len(answers)} were {set(wrong)}.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=15.0, help="for each page")
    parser.add_argument("--every", type=float, default=0.5, help="seconds to an answer")
    parser.add_argument("--postgres", action="store_true")
    asked = parser.parse_args()
    os.environ["GENIE_PROXIES"] = "1"
    with ExitStack() as stack:
        database = throwaway_postgres.server() if asked.postgres else nullcontext("")
        if url := stack.enter_context(database):
            os.environ["DATABASE_URL"] = url
        stack.callback(shutil.rmtree, world.set_up(), ignore_errors=True)
        from django.db import connections

        from benchmarks.years import rows

        size = Size(asked.judgments)
        rows.make(size)
        chosen = pages(size)
        connections.close_all()
        port = free_port()
        site = serve(port)
        stack.callback(site.wait)
        stack.callback(site.terminate)
        over = Event()
        coming = Thread(target=answers_come, args=(size, asked.every, over))
        coming.start()
        stack.callback(coming.join)
        stack.callback(over.set)
        print(
            "| page | a second | p50 ms | p95 | p99 | processor |\n|---|---|---|---|---|---|"
        )
        with ThreadPoolExecutor(asked.clients) as pool:
            for name, (path, cookie) in chosen.items():
                start, before = time.perf_counter(), processor(site.pid)
                until = start + asked.seconds
                running = [
                    pool.submit(visit, port, path, cookie, n, until)
                    for n in range(asked.clients)
                ]
                found = [answer for one in running for answer in one.result()]
                used = processor(site.pid) - before
                report(name, found, time.perf_counter() - start, used)
        print(f"load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
