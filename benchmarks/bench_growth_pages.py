"""What grows with judgments: verdicts, a board while answers arrive, all differences.

Sizes are 10,000 and 100,000 judgments. Times are the least of several, the database's
part in them. What must not grow is the ratio; nor the verdicts that one grade adds.

    python -m benchmarks.bench_growth_pages              SQLite
    python -m benchmarks.bench_growth_pages --postgres   a throw-away PostgreSQL server
    ... --sizes 1000 10000                               a quick look
"""

import argparse
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import bench_metric_board as judged_world
from benchmarks import throwaway_postgres, world

SIZES = (10_000, 100_000)
AGAIN = 5
EACH = 800
GRADES_EACH = 4
LONG_BOARD = 120
AT_ONCE = 8


def milliseconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def fill(n_judgments: int) -> Any:
    """Judge systems of 800 instances each on one task; give the task."""
    factories: Any = import_module("tests.factories")
    owner = factories.make_user("maria")
    team = factories.make_team("Kestrel", owner)
    task = judged_world.make_task(EACH)
    rng = np.random.default_rng(1)
    for number in range(n_judgments // EACH):
        values = rng.binomial(4, 0.4 + 0.4 * rng.random(), EACH) / 4
        judged_world.judged(task, number, owner, team, values)
    factories.make_many_ranked(
        factories.make_task(), LONG_BOARD, team=team, owner=owner
    )
    return task


def fill_grades(n: int) -> tuple[Any, list[int]]:
    """Grade workers' answers to four test questions; give what is graded next, by whom."""
    from django.utils import timezone

    from crowd.models import Assignment, Campaign, Worker
    from quality.models import Grade, TestQuestion

    campaign = Campaign.objects.exclude(hits=None).earliest("pk")
    items = list(campaign.items.order_by("pk")[: GRADES_EACH + 1])
    test_questions = [
        TestQuestion.objects.create(campaign=campaign, item=item, polarity="NEGATIVE")
        for item in items
    ]
    workers = Worker.objects.bulk_create(
        [Worker(platform_worker_id=f"G{i}", pseudonym=f"G{i}") for i in range(n)],
        batch_size=2_000,
    )
    now = timezone.now()
    made = Assignment.objects.bulk_create(
        [
            Assignment(
                hit_id=item.hit_id,
                worker=worker,
                state="SUBMITTED",
                reward_cents=1,
                accepted_at=now,
                deadline_at=now,
            )
            for worker in workers
            for item in items
        ],
        batch_size=2_000,
    )
    rng = np.random.default_rng(2)
    grades = [
        Grade(
            test_question=test_questions[k % len(test_questions)],
            assignment=assignment,
            worker_id=assignment.worker_id,
            pool_id=campaign.pool_id,
            polarity="NEGATIVE",
            correct=bool(rng.random() < 0.95),
        )
        for k, assignment in enumerate(made)
    ]
    of_last = [one for k, one in enumerate(grades) if k % len(test_questions) == 0]
    first = [one for k, one in enumerate(grades) if k % len(test_questions)]
    Grade.objects.bulk_create(first, batch_size=2_000)
    return campaign.pool_id, of_last[:AGAIN]


def verdicts(n_judgments: int) -> dict[str, float]:
    """Judge the pool after one grade at a time."""
    from quality.detection.services.judge import judge
    from quality.models import Verdict

    pool, more = fill_grades(n_judgments // (GRADES_EACH + 1))
    judge(pool)
    rows, times = [], []
    for grade in more:
        grade.save()
        before = Verdict.objects.count()
        times.append(milliseconds(lambda: judge(pool)))
        rows.append(Verdict.objects.count() - before)
    return {
        "verdicts kept for one grade, most": float(max(rows)),
        "judging after one grade, ms": min(times),
    }


def board() -> dict[str, float]:
    """Ask for a kept board while answers arrive in another task."""
    from django.test import Client
    from django.utils import timezone

    from crowd.models import HIT, Assignment, Rating, Worker
    from genie.lib.serving.caches import computed as cache

    client = Client()
    hits = iter(HIT.objects.order_by("pk")[:AGAIN].prefetch_related("items"))
    worker = Worker.objects.create(platform_worker_id="B", pseudonym="B")
    now = timezone.now()

    def answered_elsewhere() -> None:
        hit = next(hits)
        assignment = Assignment.objects.create(
            hit=hit,
            worker=worker,
            state="SUBMITTED",
            reward_cents=1,
            accepted_at=now,
            deadline_at=now,
        )
        Rating.objects.create(
            assignment=assignment,
            item=hit.items.all()[0],
            criterion="overall",
            value=1,
            raw="1",
        )

    def least(before: Callable[[], Any]) -> float:
        times = []
        for _ in range(AGAIN):
            before()
            times.append(milliseconds(lambda: client.get("/tasks/tidy-news/")))
        return min(times)

    return {
        "board, cold, ms": least(cache.clear),
        "board, warm, ms": least(lambda: None),
        "board, an answer elsewhere before each, ms": least(answered_elsewhere),
    }


def differences() -> dict[str, float]:
    """Ask for all pairs of twelve systems: alone, again, and eight at once when cold."""
    from django.core.cache import caches
    from django.db import connections
    from django.test import Client

    from genie.lib.serving.caches import computed as cache

    def forget() -> None:
        cache.clear()
        if "shared" in caches.settings:
            caches["shared"].clear()

    def ask(_: int = 0) -> float:
        try:
            return milliseconds(lambda: Client().get("/tasks/bench/pairs/"))
        finally:
            connections.close_all()

    forget()
    cold, warm = ask(), ask()
    forget()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        times = list(pool.map(ask, range(AT_ONCE)))
    return {
        "differences, cold, alone, ms": cold,
        "differences, warm, ms": warm,
        f"differences, {AT_ONCE} at once when cold, the last, ms": max(times),
    }


def once(n_judgments: int) -> dict[str, float]:
    from django.core.management import call_command

    call_command("flush", interactive=False, verbosity=0)
    fill(n_judgments)
    return {**board(), **differences(), **verdicts(n_judgments)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--sizes", type=int, nargs=2, default=SIZES)
    asked = parser.parse_args()
    with ExitStack() as stack:
        database = throwaway_postgres.server() if asked.postgres else nullcontext("")
        if url := stack.enter_context(database):
            os.environ["DATABASE_URL"] = url
        stack.callback(shutil.rmtree, world.set_up(), ignore_errors=True)
        from django.conf import settings
        from django.db import connections

        settings.ALLOWED_HOSTS = ["testserver"]
        small, large = asked.sizes
        before, after = once(small), once(large)
        name = "PostgreSQL" if asked.postgres else "SQLite"
        print(f"{name + ', judgments:':52}{small:>10,}{large:>10,}    ratio")
        for what, value in before.items():
            more = after[what]
            print(f"{what:52}{value:10.1f}{more:10.1f}{more / max(value, 1e-9):9.2f}")
        connections.close_all()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
