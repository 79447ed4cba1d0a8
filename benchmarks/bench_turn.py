"""What one turn of a worker costs: an answer sent, the next page back.

In one process, without a server: statements of the database and milliseconds of the
processor for each turn, with few answers stored and with many.

    python -m benchmarks.bench_turn                    volunteers; 0 and 20,000 answers
    python -m benchmarks.bench_turn --cents 5          paid
    ... --sql                                          the statements of the last turn
"""

import argparse
import shutil
import time
from contextlib import ExitStack
from typing import Any

from benchmarks import world
from benchmarks.bench_worker_site import _TOKEN, make_work


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--cents", type=int, default=0)
    parser.add_argument("--sql", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
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
