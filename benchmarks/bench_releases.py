"""What a release costs as its judgments grow: seconds, peak memory, queries, exponent.

Each size is written into a database of its own and released by a process of its own, so
that peak memory is that of the release alone. Boards are taken as up to date: whether they
are asks for a fit, which is measured elsewhere.

    python -m benchmarks.bench_releases                       10^4 and 10^5 judgments
    python -m benchmarks.bench_releases --sizes 1000000       a long look
    ... --rebuild                                             and read them all again
    ... --parquet                                  with Parquet beside them, read instead
    ... --postgres                                            on a throw-away server
"""

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import throwaway_postgres, world

INSTANCES = 1_000
PREDICTED = 100
# Systems written one by one; the others are their copies.
WRITTEN = 10
KEY = b"bench"


def fill(n: int) -> None:
    """Write as many judgments, INSTANCES of each system, with digests that are right."""
    from django.contrib.auth import get_user_model
    from django.db import transaction

    from benchmarks.bench_metric_board import judged, make_task
    from leaderboard.evaluation.selectors.system_ratings import (
        OF_ONE,
        all_system_ratings_of,
        digest,
    )
    from leaderboard.models import MetricResult, Prediction, Score, Team

    rng = np.random.default_rng(1)
    owner = get_user_model().objects.create(username="bench")
    team = Team.objects.create(slug="bench", name="Bench")
    task = make_task(INSTANCES)
    task.licence = "CC0"
    task.save()
    instances = list(task.instances.order_by("position"))
    n_systems = n // INSTANCES
    written = min(n_systems, WRITTEN)
    for number in range(written):
        values = rng.integers(0, 5, INSTANCES) / 4
        with transaction.atomic():
            submission = judged(task, number, owner, team, values)
            ratings = all_system_ratings_of([submission.human_evaluation_id])
            Score.objects.filter(submission=submission).update(
                ratings_sha256=digest(ratings, OF_ONE)
            )
            MetricResult.objects.create(
                submission=submission,
                metric="chrf",
                signature="chrf",
                value=50,
                per_instance=rng.normal(50, 9, INSTANCES).round(6).tolist(),
            )
            Prediction.objects.bulk_create(
                Prediction(submission=submission, instance=one, text="a " * 40)
                for one in instances[:PREDICTED]
            )

    multiply(n_systems // written - 1)


def multiply(n: int) -> None:
    """Copy the systems with all that is said of them, `n` times, in the database."""
    from django.db import connection, transaction
    from django.db.models import Max

    from benchmarks.years.bulk import loading
    from crowd import models as crowd
    from leaderboard import models

    every = [
        *(models.Submission, models.HumanEvaluation, models.EvaluatedSystem),
        *(crowd.Campaign, crowd.HIT, crowd.Item, crowd.Assignment, crowd.Rating),
        *(models.EvaluationCampaign, models.Subject, models.Score),
        *(models.MetricResult, models.Prediction),
    ]
    last = {one: one.objects.aggregate(last=Max("pk"))["last"] for one in every}

    def copied(field: Any) -> str:
        if field.primary_key:
            return f"a.{field.column} + copy.n * {last[field.model]}"
        if field.related_model in last:
            return f"a.{field.column} + copy.n * {last[field.related_model]}"
        if field.unique:
            return f"a.{field.column} || '-' || copy.n"
        return f'a."{field.column}"'

    if not n:
        return
    with loading(every), transaction.atomic(), connection.cursor() as cursor:
        for one in every:
            fields = one._meta.concrete_fields
            columns = ", ".join(f'"{field.column}"' for field in fields)
            values = ", ".join(copied(field) for field in fields)
            table = one._meta.db_table
            cursor.execute(
                f"with recursive copy(n) as (select 1 union all select n + 1 from copy "
                f"where n < {n}) insert into {table} ({columns}) "
                f"select {values} from {table} a, copy"
            )


def release(folder: Path, *, parquet: bool) -> dict[str, Any]:
    """Make the release as the queue's jobs do, and say what that took."""
    from django.db import connection

    from benchmarks.bench_years import processor
    from leaderboard.evaluation.services import refit
    from leaderboard.models import Task
    from leaderboard.releases import queued

    refit.due = list
    queued.available = lambda: parquet
    asked = 0

    def count(execute: Any, *given: Any) -> Any:
        nonlocal asked
        asked += 1
        return execute(*given)

    used = processor(connection)
    before, start, began = peak(), used(), time.perf_counter()
    row = queued.request(Task.objects.get())
    with connection.execute_wrapper(count):
        while row.state in queued.UNDER_WAY:
            queued.work(row.pk)
            row.refresh_from_db()
    assert row.state == "DONE", row.failure
    with zipfile.ZipFile(row.file.path) as archive:
        archive.extractall(folder)
    return {
        "seconds": used() - start + of_children().ru_utime + of_children().ru_stime,
        "wall": time.perf_counter() - began,
        "pieces": row.n_starts,
        "archive MB": row.n_bytes / 1e6,
        "before": before,
        "peak": peak(),
        "peak of DuckDB": of_children().ru_maxrss / 1024,
        "queries": asked,
    }


def read(folder: Path, *, parquet: bool) -> dict[str, Any]:
    """Read all tables of the release as `rebuild` does, and compare their numbers."""
    from leaderboard.releases import bundle
    from leaderboard.releases.parquet import as_json_lines
    from leaderboard.releases.rebuilding import rebuild

    before, start = peak(), time.process_time()
    release = folder / "bench"
    bundle.check(release)
    with as_json_lines(release) if parquet else nullcontext(release) as tables:
        # the scores of this world are made up; their ratings are read all the same
        n = sum(1 for _ in rebuild._scores(tables))
    own = time.process_time() - start
    return {
        "seconds": own + of_children().ru_utime + of_children().ru_stime,
        "before": before,
        "peak": peak(),
        "peak of DuckDB": of_children().ru_maxrss / 1024,
        "numbers": n,
    }


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def of_children() -> resource.struct_rusage:
    return resource.getrusage(resource.RUSAGE_CHILDREN)


def child(work: str, folder: Path, n: int, *more: str) -> dict[str, Any]:
    """Do one part of the work in a process of its own."""
    found = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.bench_releases", "--work", work),
            *("--folder", str(folder), "--sizes", str(n), *more),
        ],
        env={**os.environ, "GENIE_VAR": str(folder)},
        check=True,
        stdout=subprocess.PIPE,
    )
    said: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rebuild", action="store_true")
    parser.add_argument("--parquet", action="store_true")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    parser.add_argument("--work", choices=["fill", "release", "read"])
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    if args.work:
        world.set_up(args.folder)
        if args.work == "fill":
            fill(args.sizes[0])
            print("{}")
        else:
            found = (
                release(args.folder, parquet=args.parquet)
                if args.work == "release"
                else read(args.folder, parquet=args.parquet)
            )
            print(json.dumps(found))
        return
    before: tuple[int, float] | None = None
    for n in args.sizes:
        with ExitStack() as stack:
            if args.postgres:
                url = stack.enter_context(throwaway_postgres.server())
                os.environ["DATABASE_URL"] = url
            before = measure(n, args, before)


def measure(
    n: int, args: argparse.Namespace, before: tuple[int, float] | None
) -> tuple[int, float]:
    """Fill a world of this size, release it, and perhaps read the release."""
    folder = Path(tempfile.mkdtemp(prefix="genie-bench-"))
    child("fill", folder, n)
    took = 0.0
    for work in ["release", *(["read"] if args.rebuild else [])]:
        found = child(work, folder, n, *(["--parquet"] if args.parquet else []))
        line = ", ".join(f"{name} {value:,.1f}" for name, value in found.items())
        print(f"{n:>10,} {work}: {line}", flush=True)
        if work == "release":
            took = found["seconds"]
    if before:
        exponent = math.log(took / before[1], n / before[0])
        print(f"           exponent {exponent:.2f}")
    if args.keep:
        print(folder)
    else:
        shutil.rmtree(folder)
    return n, took


if __name__ == "__main__":
    main()
