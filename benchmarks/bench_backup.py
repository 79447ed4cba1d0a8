"""How long `genie backup` and `genie restore` take, and how large a backup is.

A site with so many judgments (assignment, answer and payment each) and uploads of 20 MB is
backed up, restored into an empty place and examined, by the commands themselves.

    python -m benchmarks.bench_backup                     SQLite
    python -m benchmarks.bench_backup --postgres          a throw-away PostgreSQL server
    ... --judgments 10000                                 a quick look
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, nullcontext
from pathlib import Path

from benchmarks import throwaway_postgres, world

HITS = 1_000
# the columns of a copied row that are not copied: key, what it hangs on, what is unique
COPIES = {
    "crowd_assignment": {"hit_id": "h.id", "worker_id": "w.id"},
    "crowd_rating": {"assignment_id": "a.id", "item_id": "i.id"},
    "crowd_ledgerentry": {
        "assignment_id": "a.id",
        "idempotency_key": "'reward:' || a.id",
    },
}
FROM = {
    "crowd_assignment": "crowd_hit h cross join crowd_worker w where not exists "
    "(select 1 from crowd_assignment b where b.hit_id = h.id and b.worker_id = w.id)",
    "crowd_rating": "crowd_assignment a join crowd_item i on i.hit_id = a.hit_id "
    "where a.id <> t.assignment_id",
    "crowd_ledgerentry": "crowd_assignment a where a.id <> t.assignment_id",
}


def fill(n: int) -> None:
    """Make so many judgments by copying the rows of one."""
    from django.core.files.base import ContentFile
    from django.core.files.storage import default_storage
    from django.db import connection

    from crowd.models import Worker
    from tests import factories as make

    ada = make.make_user("ada")
    task = make.make_task(n_instances=HITS)
    team = make.make_team("Herons", ada)
    submission = make.make_submission(task, team=team, owner=ada)
    campaign = make.make_evaluation(submission).campaign
    Worker.objects.bulk_create(
        [Worker(platform_worker_id=f"W{i}") for i in range(n // HITS)]
    )
    first = make.answer(
        campaign.hits.first().items.get(), Worker.objects.first(), state="APPROVED"
    )
    make.pay(first)
    with connection.cursor() as cursor:
        for table, others in COPIES.items():
            described = connection.introspection.get_table_description(cursor, table)
            names = [column.name for column in described if column.name != "id"]
            chosen = ", ".join(others.get(name, f't."{name}"') for name in names)
            listed = ", ".join(f'"{name}"' for name in names)
            cursor.execute(
                f"insert into {table} ({listed}) select {chosen} from {FROM[table]}".replace(
                    " from ", f" from (select * from {table} limit 1) t cross join ", 1
                )
            )
        cursor.execute("select count(*) from crowd_rating")
        assert cursor.fetchone() == (n,), "not all judgments were made"
    for number in range(20):
        default_storage.save(f"submissions/{number}", ContentFile(os.urandom(1 << 20)))


def timed(env: dict[str, str], *words: str) -> str:
    """Run a command of `genie`; give its seconds and peak memory in words."""
    code = "from genie.command import main; main()"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=env, capture_output=True, text=True
    )
    if done.returncode and words[0] != "doctor":  # no queue runs here
        raise SystemExit(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{time.perf_counter() - start:7.1f} s{cpu:7.1f} CPU s, at most {after.ru_maxrss >> 10:,} MB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--judgments", type=int, default=1_000_000)
    asked = parser.parse_args()
    with ExitStack() as stack:
        database = throwaway_postgres.server() if asked.postgres else nullcontext("")
        url = stack.enter_context(database)
        if url:
            os.environ["DATABASE_URL"] = url
        folder = world.set_up()
        empty = Path(tempfile.mkdtemp(prefix="genie-bench-"))
        for each in (folder, empty):
            stack.callback(shutil.rmtree, each, ignore_errors=True)
        from django.db import connections

        start = time.perf_counter()
        fill(asked.judgments)
        print("PostgreSQL" if url else "SQLite", f"{asked.judgments:,} judgments")
        print(f"  filled in {time.perf_counter() - start:,.0f} s")
        connections.close_all()
        new = {**os.environ, "GENIE_VAR": str(empty)}
        if url:
            import psycopg

            with psycopg.connect(url, autocommit=True) as server:
                server.execute("create database restored")
                (size,) = server.execute(
                    "select pg_database_size('postgres')"
                ).fetchone()
            new["DATABASE_URL"] = url.removesuffix("postgres") + "restored"
        else:
            size = (folder / "genie.sqlite3").stat().st_size
        backup = empty / "site.backup"
        print("  backup ", timed(dict(os.environ), "backup", str(backup)))
        print(
            f"  database {size / 1e6:,.0f} MB, uploads 21 MB, "
            f"backup {backup.stat().st_size / 1e6:,.0f} MB"
        )
        print("  restore", timed(new, "restore", str(backup)))
        print("  doctor ", timed(new, "doctor"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
