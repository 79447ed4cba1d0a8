"""A hundred workers at once on the worker site: two server processes, over HTTP.

Each worker is shown a HIT, thinks, sends the answer as the page's script does, and goes
on to the next one, which comes with the answer. `between answers` is from sending one
until the next HIT is there, whatever it takes of requests. Afterwards the database says whether an answer was lost or a HIT was
answered twice. What is timed is a request from its first byte out to its last byte in,
on the machine that also runs the server and its clients.

    python -m benchmarks.bench_worker_site              SQLite
    python -m benchmarks.bench_worker_site --postgres   a throw-away PostgreSQL server
    ... --think 0                                       nobody thinks: the most it can do
    ... --items 5                                       five HITs on a page, thinking for each
    ... --pools 15 --systems 60                         a WMT: 15 tasks of 60 systems each, errors
                                                        marked, documents; p95 within 300 ms
"""

import argparse
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier
from urllib.parse import urlencode

import numpy as np

from benchmarks import throwaway_postgres, world
from benchmarks.wmt_campaigns import make_campaigns

P95_AT_MOST_MS = 150.0
# of a whole WMT: so many campaigns are open to each worker
P95_OF_WMT_MS = 300.0
_MARKS = json.dumps([{"start": 0, "end": 3, "severity": "minor"}])
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass
class Timed:
    """What one worker met."""

    page_ms: list[float] = field(default_factory=list)
    answer_ms: list[float] = field(default_factory=list)
    between_ms: list[float] = field(default_factory=list)
    n_acknowledged: int = 0
    troubles: list[str] = field(default_factory=list)


class Worker:
    """One browser: a session and its cookies, one HIT at a time."""

    def __init__(
        self,
        port: int,
        session: str,
        seed: int,
        think: float,
        items: int = 1,
        raw: str = "0.75",
    ) -> None:
        self.port, self.items, self.raw = port, items, raw
        self.cookies = {"sessionid": session}
        self.rng = np.random.default_rng(seed)
        self.think = think
        self.met = Timed()
        self.stopped = False

    def work(self, first: str, n: int, begin: Barrier) -> Timed:
        begin.wait()
        time.sleep(self.rng.uniform(0, self.think))
        path, page = first, ""
        for _ in range(n):
            path, page = self._one(path, page)
            if self.stopped or not path.startswith(_hit_address(0).removesuffix("0/")):
                break
        return self.met

    def _one(self, path: str, page: str) -> tuple[str, str]:
        """Answer the HIT of a page, which is asked for where it did not come along."""
        status = 200
        if not page:
            status, page = self._request("GET", path, self.met.page_ms)
            if self.met.answer_ms:
                self.met.between_ms[-1] += self.met.page_ms[-1]
        token = _TOKEN.search(page)
        if status != 200 or token is None:
            self.met.troubles.append(f"GET {path}: {status}")
            return "", ""
        n = page.count('class="item"')
        time.sleep(self.rng.uniform(0.5, 1.5) * self.think * n)
        answer = {
            "csrfmiddlewaretoken": token[1],
            **{f"answer-{i}-0": self.raw for i in range(n)},
            **({f"spans-{i}": _MARKS for i in range(n)} if self.raw != "0.75" else {}),
            "active_seconds": "2",
        }
        status, said = self._request("POST", path, self.met.answer_ms, answer)
        self.met.between_ms.append(self.met.answer_ms[-1])
        if status != 200:
            self.met.troubles.append(f"POST {path}: {status} {said[:100]}")
            return "", ""
        if n != self.items:
            self.met.troubles.append(f"{path}: {n} items on a page")
        self.met.n_acknowledged += n
        told = json.loads(said)
        return told["next"], told.get("page", "")

    def _request(
        self,
        method: str,
        path: str,
        times: list[float],
        fields: dict[str, str] | None = None,
    ) -> tuple[int, str]:
        headers = {
            "Cookie": "; ".join(
                f"{name}={value}" for name, value in self.cookies.items()
            )
        }
        if method == "POST":
            headers["Accept"] = "application/json"
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(fields).encode() if fields else None
        start = time.perf_counter()
        # Who thinks for longer than the server keeps connections open makes a new one.
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        times.append(1000 * (time.perf_counter() - start))
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        return response.status, response.headers.get("Location") or text


def make_work(
    n_workers: int, n_each: int, spare: int, items: int = 1, cents: int = 5
) -> list[tuple[str, str]]:
    """Make a campaign and its workers; give each one's session and first page."""
    from django.utils import timezone

    from crowd.campaigns.services import run
    from crowd.hits.models import Pool
    from crowd.hits.services.build import HITTypeSpec, ItemSpec, build_campaign

    Pool.objects.create(slug="bench")
    n_hits = n_workers * n_each * items + spare
    answers = world.texts(n_hits, seed=3)
    build_campaign(
        key="bench",
        pool="bench",
        title="Bench",
        hit_type=HITTypeSpec(
            template="question-answering",
            scale="likert-5",
            criteria={"overall": "This is a reasonable answer."},
            title="Judge answers",
            description="Read and say what you think.",
            keywords="text",
            reward_cents=cents,
            assignment_seconds=1800,
            form={"items_per_page": items} if items > 1 else {},
        ),
        items=[
            ItemSpec(
                f"item-{i}",
                {
                    "fields": [{"label": "Question", "text": text[::-1], "lang": "en"}],
                    "prediction": text,
                    "lang": "en",
                },
                f"input-{i}",
            )
            for i, text in enumerate(answers)
        ],
        budget_cents=10**7,
        seed=1,
        starts_at=timezone.now(),
    )
    run.start_due()
    return [_way_in(i, "bench") for i in range(n_workers)]


def make_wmt(
    n_workers: int, n_pools: int, n_systems: int, items: int
) -> list[tuple[str, str]]:
    """Make a WMT's campaigns, and workers of each pool."""
    make_campaigns(n_pools, n_systems, items)
    return [_way_in(i, f"bench-{i % n_pools}") for i in range(n_workers)]


def _way_in(i: int, pool: str) -> tuple[str, str]:
    """Register a worker of a pool; give the session and the first page."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    from crowd.campaigns.services.claim import first_on, next_page
    from crowd.workers.services.invitations import give_consent, register_worker

    user = get_user_model().objects.create(username=f"worker-{i}")
    worker = register_worker(platform_worker_id=f"worker-{i}", user=user)
    give_consent(worker, pool)
    client = Client()
    client.force_login(user)
    first = first_on(next_page(worker))
    return client.cookies["sessionid"].value, _hit_address(first.pk)


def analyze() -> None:
    """Count rows for the planner, as PostgreSQL does by itself within a minute or so."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _hit_address(pk: int) -> str:
    from django.urls import reverse

    return reverse("work:hit", args=[pk])


def serve(
    port: int,
    application: str = "genie.wsgi",
    python: str = sys.executable,
    folder: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start the site as docs/operating.md says, with two processes."""
    process = subprocess.Popen(
        [
            python, "-m", "gunicorn", application,
            "--bind", f"127.0.0.1:{port}", "--worker-class", "gthread",
            "--workers", "2", "--threads", "4", "--log-level", "warning",
        ],
        cwd=folder,
    )  # fmt: skip
    for _ in range(300):
        try:
            probe = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            probe.request("GET", "/work/")
            probe.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return process
    process.kill()
    raise SystemExit("The site did not start.")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def lost_or_doubled(n_acknowledged: int) -> list[str]:
    """Look in the database for what must not be: lost answers, HITs answered twice."""
    from django.db.models import Count, Q

    from crowd.models import HIT, Assignment, LedgerEntry, Rating

    sent = Assignment.objects.filter(state="SUBMITTED")
    twice = HIT.objects.annotate(
        n=Count("assignments", filter=Q(assignments__state="SUBMITTED"))
    ).filter(n__gt=1)
    counts = {
        "answers that workers were told are stored": n_acknowledged,
        "assignments sent in": sent.count(),
        "answers stored": Rating.objects.count(),
        "rewards planned": LedgerEntry.objects.count(),
    }
    for name, n in counts.items():
        print(f"{n:8,} {name}")
    print(f"{twice.count():8,} HITs answered twice")
    wrong = [name for name, n in counts.items() if n != n_acknowledged]
    return [*wrong, *(["HITs answered twice"] if twice.exists() else [])]


def report(met: list[Timed], took: float, at_most: float) -> bool:
    """Print the figures; tell whether the 95th percentile is low enough."""
    kinds = {
        "page of a HIT": [ms for one in met for ms in one.page_ms],
        "answer": [ms for one in met for ms in one.answer_ms],
    }
    kinds["between answers"] = [ms for one in met for ms in one.between_ms]
    print(f"{'':16}{'n':>8}{'median':>9}{'p95':>9}{'p99':>9}{'longest':>9}   ms")
    for name, times in kinds.items():
        if not times:
            continue
        of = np.percentile(times, [50, 95, 99, 100])
        print(f"{name:16}{len(times):8,}" + "".join(f"{ms:9.1f}" for ms in of))
    n = sum(one.n_acknowledged for one in met)
    print(f"{n / took:.1f} answers a second for {took:.1f} s")
    return n > 0 and bool(np.percentile(kinds["between answers"], 95) < at_most)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--each", type=int, default=8, help="pages for each worker")
    parser.add_argument("--items", type=int, default=1, help="HITs on a page")
    parser.add_argument("--think", type=float, default=8.0, help="seconds, on average")
    parser.add_argument("--spare", type=int, default=2_000, help="HITs left over")
    parser.add_argument("--pools", type=int, default=0, help="tasks of a WMT")
    parser.add_argument("--systems", type=int, default=60, help="of each task")
    parser.add_argument("--postgres", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
        database = throwaway_postgres.server() if asked.postgres else nullcontext("")
        if url := stack.enter_context(database):
            os.environ["DATABASE_URL"] = url
        folder: Path = world.set_up()
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if asked.pools:
            ways_in = make_wmt(asked.workers, asked.pools, asked.systems, asked.items)
        else:
            ways_in = make_work(asked.workers, asked.each, asked.spare, asked.items)
        analyze()
        port = free_port()
        site = serve(port)
        stack.callback(site.wait)
        stack.callback(site.terminate)
        begin = Barrier(asked.workers + 1)
        raw = "75" if asked.pools else "0.75"
        at_most = P95_OF_WMT_MS if asked.pools else P95_AT_MOST_MS
        with ThreadPoolExecutor(asked.workers) as pool:
            running = [
                pool.submit(
                    Worker(port, session, seed, asked.think, asked.items, raw).work,
                    first,
                    asked.each,
                    begin,
                )
                for seed, (session, first) in enumerate(ways_in)
            ]
            begin.wait()
            start = time.perf_counter()
            met = [one.result() for one in running]
            took = time.perf_counter() - start
        name = "PostgreSQL" if asked.postgres else "SQLite"
        print(
            f"{name}: {asked.workers} workers, {asked.each} pages each, {asked.items} "
            f"HITs on a page, thinking {asked.think:g} s of each on average; load {os.getloadavg()[0]:.1f}"
        )
        quick = report(met, took, at_most)
        troubles = [trouble for one in met for trouble in one.troubles]
        troubles += lost_or_doubled(sum(one.n_acknowledged for one in met))
        for trouble in troubles[:10]:
            print(f"TROUBLE {trouble}")
        from django.db import connections

        connections.close_all()
    if asked.think and not quick:
        print(f"The 95th percentile is above {at_most:g} ms.")
    return int(bool(troubles) or (asked.think > 0 and not quick))


if __name__ == "__main__":
    raise SystemExit(main())
