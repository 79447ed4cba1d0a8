"""The site after years: what its people ask, with 10,000 to 10,000,000 judgments.

For each size the world is filled in bulk in a process of its own. Of each question the
table has the least milliseconds of several, the queries, the peak of Python's memory; and
last the exponent: 0 is flat, 1 grows as the world does. Milliseconds are the processor's,
with those of PostgreSQL's process: others on the machine do not count.

    python -m benchmarks.bench_years                                SQLite
    python -m benchmarks.bench_years --postgres                     a throw-away server
    ... --sizes 10000 100000 1000000 10000000                       all of it
    ... --only turk                                                 some questions
"""

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

from benchmarks import throwaway_postgres, world

SIZES = (10_000, 100_000)
AGAIN = 5
# a question that takes so long is asked no more often than needed
LONG_SECONDS = 2.0


def measured(ask: Any) -> tuple[float, int, float]:
    """Give the least milliseconds, the queries, and the peak in megabytes."""
    from django.db import connection

    change = getattr(ask, "before", lambda: None)
    n = 0

    def count(execute: Any, *given: Any) -> Any:
        nonlocal n
        n += 1
        return execute(*given)

    def seconds() -> float:
        change()
        start = used()
        ask()
        return used() - start

    used = processor(connection)
    first = seconds()
    times = [seconds() for _ in range(1 if first > LONG_SECONDS else AGAIN)]
    change()
    tracemalloc.start()
    with connection.execute_wrapper(count):
        ask()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return 1000 * min(times), n, peak


def processor(connection: Any) -> Callable[[], float]:
    """Give what tells the seconds that this process and its database's have used."""
    if connection.vendor != "postgresql":
        return time.process_time
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    ran = Path(f"/proc/{pid}/schedstat")

    def used() -> float:
        return time.process_time() + int(ran.read_text().split()[0]) / 1e9

    return used


def once(n: int, only: str) -> dict[str, tuple[float, int, float]]:
    """Fill one world and ask everything; the last line of what is printed is the answer."""
    from django.conf import settings
    from django.db import connection

    from benchmarks.years import questions, rows

    settings.ALLOWED_HOSTS = ["testserver"]
    start = time.perf_counter()
    rows.make(rows.Size(n))
    took = time.perf_counter() - start
    size = _bytes(connection)
    print(f"{n:,} judgments stand after {took:.0f} s, {size / 1e6:,.0f} MB", flush=True)
    found = {}
    for name, ask in questions.of(rows.Size(n)):
        if only in name:
            found[name] = measured(ask)
            ms, queries, peak = found[name]
            print(f"  {name:46}{ms:10.1f} ms{queries:5}{peak:8.1f} MB", flush=True)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  the process needed {megabytes:.0f} MB at most", flush=True)
    return found


def _bytes(connection: Any) -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            )
        return int(cursor.fetchone()[0])


def alone(n: int, *, postgres: bool, only: str) -> None:
    with ExitStack() as stack:
        database = throwaway_postgres.server() if postgres else nullcontext("")
        if url := stack.enter_context(database):
            os.environ["DATABASE_URL"] = url
        stack.callback(shutil.rmtree, world.set_up(), ignore_errors=True)
        from django.db import connections

        found = once(n, only)
        connections.close_all()
    print(json.dumps(found))


def exponent(sizes: list[int], times: list[float]) -> float:
    """Fit how time grows with size between the first world and the last."""
    return math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])


def table(sizes: list[int], found: list[dict[str, Any]]) -> None:
    """Print the figures as a table in Markdown."""
    heads = " | ".join(f"{n:,}" for n in sizes)
    print(f"\n| ms, queries, MB | {heads} | exponent |")
    print("|---|" + "---|" * (len(sizes) + 1))
    for name in found[0]:
        rows = [one[name] for one in found]
        cells = " | ".join(f"{ms:.1f}, {n}, {mb:.1f}" for ms, n, mb in rows)
        growth = exponent(sizes, [row[0] for row in rows]) if len(rows) > 1 else 0
        print(f"| {name} | {cells} | {growth:.2f} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", default="")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.alone:
        alone(asked.sizes[0], postgres=asked.postgres, only=asked.only)
        return 0
    found = []
    for n in asked.sizes:
        command = [sys.executable, "-m", "benchmarks.bench_years", "--alone"]
        command += ["--sizes", str(n), "--only", asked.only]
        command += ["--postgres"] if asked.postgres else []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            last = ""
            for line in process.stdout:
                if last:
                    print(last, end="", flush=True)
                last = line
        if process.returncode:
            return process.returncode
        found.append(json.loads(last))
    table(asked.sizes, found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
