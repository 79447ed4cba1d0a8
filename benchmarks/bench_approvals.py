"""Approvals while workers answer: how long any of their writes waits, on SQLite.

`genie up` serves a site where workers rate one task. Meanwhile staff approve, over the
API, submissions, comparisons and a joint evaluation of another task, each as soon as its
test questions are measured, and each starts at once. No answer may wait longer than
half a second more than the longest one before the first approval.

    python -m benchmarks.bench_approvals
    ... --think 0.5     workers answer at a faster pace
"""

import argparse
import http.client
import io
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import deepcopy
from itertools import pairwise
from threading import Barrier
from typing import Any

from benchmarks import world
from benchmarks.bench_worker_site import Timed, Worker, free_port, make_work

# what approvals may add to the longest answer
AT_MOST_MS = 500.0
SYSTEMS = (("Kite", 1.0), ("Crow", 0.7), ("Wren", 0.5), ("Lark", 0.3))


def make_requests() -> tuple[str, list[str]]:
    """Make systems of a task and ask for all three kinds of evaluations.

    Returns
    -------
    A token of staff, and the addresses that decide on each.
    """
    from django.contrib.auth import get_user_model

    from genie.accounts import tokens
    from genie.lib import jobs
    from leaderboard.evaluation.services import comparison, joint
    from leaderboard.submissions.services import submit
    from leaderboard.tasks.models import Task
    from leaderboard.tasks.services import load

    users = get_user_model().objects
    boss = users.create(username="boss", is_staff=True, is_superuser=True)
    owner = users.create(username="nina", email="nina@example.org")
    task = load.load_task("demo-qa").task
    config = deepcopy(task.config)
    config["human"]["sample_size"] = task.n_instances
    config["quota"] = {"submissions": 50, "days": 7}
    Task.objects.filter(pk=task.pk).update(config=config, demo=False)
    task.refresh_from_db()
    rows = list(task.instances.order_by("sample_rank"))
    systems = []
    for name, share in SYSTEMS:
        right = share * len(rows)
        texts = {
            row.instance_id: rows[place - (place >= right)].references[0]
            for place, row in enumerate(rows)
        }
        systems.append(
            submit.receive(
                task=task,
                owner=owner,
                team=submit.team_for(owner),
                system_name=name,
                file=io.BytesIO(json.dumps(texts).encode()),
                file_name="predictions.json",
            )
        )
        jobs.drain()
    for system in systems:
        system.refresh_from_db()
    question = comparison.Question("overall", max_pairs=30)
    pairs = [comparison.request(a, b, question, by=boss) for a, b in pairwise(systems)]
    together = joint.request(systems, by=boss, n_instances=20)
    _, token = tokens.issue(boss, name="bench", scopes=["staff"], days=1)
    return token, [
        *(f"/api/v1/submissions/{one.pk}/decision/" for one in systems),
        *(f"/api/v1/comparisons/{one.pk}/decision/" for one in pairs),
        f"/api/v1/joint-evaluations/{together.pk}/decision/",
    ]


class Staff:
    """Approve one thing after the other by program."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
        }
        self.longest_ms = 0.0

    def approve_all(self, addresses: list[str], patience: float = 180) -> list[str]:
        """Approve each once its test questions are measured; return what failed."""
        waiting, troubles = list(addresses), []
        until = time.monotonic() + patience
        while waiting and time.monotonic() < until:
            address = waiting.pop(0)
            status, said = self._request("GET", address)
            cost = said.get("cost_cents")
            if status == 200 and cost is not None:
                wish = {"decision": "approve", "cost_cents": cost, "start_now": True}
                wish["despite"] = "a benchmark"
                status, said = self._request("POST", address, wish)
            if said.get("code") in {"tests-not-measured", "cost-moved"}:
                waiting.append(address)
                time.sleep(2)
            elif status != 200 or cost is None:
                troubles.append(f"{address}: {status} {said}")
            else:
                print(f"  approved {address} after {self.longest_ms:.0f} ms at most")
        return troubles + [f"{address}: never measured" for address in waiting]

    def _request(
        self, method: str, path: str, wish: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        start = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        body = json.dumps(wish) if wish else None
        connection.request(method, path, body, self.headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        if method == "POST":
            took = 1000 * (time.perf_counter() - start)
            self.longest_ms = max(self.longest_ms, took)
        try:
            said = json.loads(text)
        except ValueError:
            said = {"text": text[:200]}
        return response.status, said


def serve(port: int) -> subprocess.Popen[bytes]:
    """Start the whole site, its queue included."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--port", str(port)],
        stdout=subprocess.DEVNULL,
    )
    for _ in range(600):
        try:
            probe = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            probe.request("GET", "/")
            probe.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return process
    process.kill()
    raise SystemExit("The site did not start.")


def longest(met: list[Timed], first: list[int], last: list[int] | None = None) -> float:
    """Return the longest answer between two places of each worker's answers, in ms."""
    ends = last or [len(one.answer_ms) for one in met]
    pieces = zip(met, first, ends, strict=True)
    return max((ms for one, i, k in pieces for ms in one.answer_ms[i:k]), default=0.0)


def launched() -> int:
    """Count the evaluations that collect answers."""
    from leaderboard.evaluation.models.human_evaluation import HumanEvaluation

    State = HumanEvaluation.State
    return HumanEvaluation.objects.filter(state=State.ANNOTATING).count()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--each", type=int, default=5_000, help="pages at most")
    parser.add_argument("--spare", type=int, default=3_000, help="HITs to rate")
    parser.add_argument("--think", type=float, default=2.0, help="seconds, on average")
    parser.add_argument("--before", type=float, default=30.0, help="seconds alone")
    parser.add_argument("--after", type=float, default=30.0, help="seconds at the end")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = world.set_up()
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        token, addresses = make_requests()
        ways_in = make_work(asked.workers, 1, asked.spare)
        from django.db import connections

        connections.close_all()
        port = free_port()
        site = serve(port)
        stack.callback(site.wait)
        stack.callback(site.terminate)
        begin = Barrier(asked.workers + 1)
        workers = [
            Worker(port, session, seed, asked.think)
            for seed, (session, _) in enumerate(ways_in)
        ]
        pool = stack.enter_context(ThreadPoolExecutor(asked.workers))
        running = [
            pool.submit(worker.work, first, asked.each, begin)
            for worker, (_, first) in zip(workers, ways_in, strict=True)
        ]
        begin.wait()
        time.sleep(asked.before)
        met = [worker.met for worker in workers]
        start = [len(one.answer_ms) for one in met]
        staff = Staff(port, token)
        troubles = staff.approve_all(addresses)
        until = time.monotonic() + 120
        while launched() < len(addresses) and time.monotonic() < until:
            time.sleep(1)
        n_launched = launched()
        end = [len(one.answer_ms) for one in met]
        time.sleep(asked.after)
        for worker in workers:
            worker.think, worker.stopped = 0, True
        troubles += [trouble for one in met for trouble in one.troubles]
        n = sum(len(one.answer_ms) for one in met)
        before, during = longest(met, [0] * len(met), start), longest(met, start, end)
        print(
            f"{asked.workers} workers, {n} answers; {n_launched} of {len(addresses)} "
            f"evaluations launched; load {os.getloadavg()[0]:.1f}\n"
            f"longest answer before: {before:.0f} ms; during approvals and launches: "
            f"{during:.0f} ms; after: {longest(met, end):.0f} ms\n"
            f"longest approval: {staff.longest_ms:.0f} ms"
        )
        for trouble in troubles[:10]:
            print(f"TROUBLE {trouble}")
        for one in running:
            one.cancel()
    return int(
        bool(troubles) or during - before > AT_MOST_MS or n_launched < len(addresses)
    )


if __name__ == "__main__":
    raise SystemExit(main())
