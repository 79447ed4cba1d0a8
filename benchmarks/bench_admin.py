"""The admin's lists at 100,000 rows, beside Django's own list of the same columns.

Django's list counts all rows twice and groups the dates of all of them. The time is the
processor's, the mean of some requests, with that of PostgreSQL's process added: others
on the machine do not count.

    python -m benchmarks.bench_admin                SQLite
    python -m benchmarks.bench_admin --postgres     a throw-away PostgreSQL server
"""

import argparse
import os
import time
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks import throwaway_postgres, world

N = 100_000
AGAIN = 10
SECONDS_AT_MOST = 0.3
# the list of each model, and the dates by which Django's own is divided
LISTS = {
    "Campaign": "starts_at",
    "Assignment": "accepted_at",
    "LedgerEntry": "created_at",
    "Worker": "",
    "HIT": "",
    "Message": "created_at",
    "OutwardCall": "created_at",
}


def fill(n: int) -> Any:
    """Make `n` rows of each list's model, over 100 campaigns; return a superuser."""
    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from crowd import models

    now = timezone.now()
    kind = models.HITType.objects.create(
        template="summarization",
        scale="likert-5",
        title="Judge",
        reward_cents=9,
        fingerprint="bench",
    )
    models.Pool.objects.bulk_create(models.Pool(f"pool-{i}") for i in range(5))
    campaigns = models.Campaign.objects.bulk_create(
        models.Campaign(
            key=f"bench:{i}",
            pool_id=f"pool-{i % 5}",
            title=f"Task {i % 5}: system {i}",
            hit_type=kind,
            state="RUNNING",
            budget_cents=100_000,
            seed=i,
            starts_at=now,
        )
        for i in range(100)
    )
    workers = _many(models.Worker, n, lambda i: {"platform_worker_id": f"W{i}"})
    inputs = _many(
        models.Input,
        n // 100,
        lambda i: {"scope": "pool", "content_key": f"input-{i}"},
    )
    hits = _many(
        models.HIT,
        n,
        lambda i: {
            "campaign": campaigns[i % 100],
            "position": i // 100,
            "input": inputs[i // 100],
            "n_available": 0,
        },
    )
    work = _many(
        models.Assignment,
        n,
        lambda i: {
            "hit": hits[i],
            "worker": workers[i % 1_000],
            "state": "APPROVED",
            "reward_cents": 9,
            "accepted_at": now - timedelta(minutes=i),
            "deadline_at": now,
            "submitted_at": now - timedelta(minutes=i),
            "active_seconds": 20.0 + i % 50,
        },
    )
    _many(
        models.LedgerEntry,
        n,
        lambda i: {
            "idempotency_key": f"reward:{i}",
            "campaign": campaigns[i % 100],
            "assignment": work[i],
            "kind": "REWARD",
            "state": "DONE",
            "amount_cents": 9,
        },
    )
    _many(models.Message, n, lambda i: {"worker": workers[i], "subject": f"About {i}"})
    _many(
        models.OutwardCall,
        n,
        lambda i: {"campaign": campaigns[i % 100], "key": f"call:{i}", "kind": "POST"},
    )
    return get_user_model().objects.create_superuser("bench")


def _many(model: Any, n: int, values: Any) -> list[Any]:
    rows: list[Any] = model.objects.bulk_create(
        (model(**values(i)) for i in range(n)), batch_size=1_000
    )
    return rows


def stock_of(ours: Any, dates: str) -> Any:
    """Give the same columns with what Django's lists do unless told otherwise."""
    from django.core.paginator import Paginator

    own = {"paginator": Paginator, "show_full_result_count": True}
    changed = {**own, "date_hierarchy": dates or None}
    return type("Stock", (type(ours),), changed)(ours.model, ours.admin_site)


def seconds(model_admin: Any, user: Any) -> float:
    """Give the mean time that the list took, drawn to its end."""
    from django.test import RequestFactory

    request = RequestFactory().get("/admin/")
    request.user = user
    model_admin.changelist_view(request).render()
    start = _processor_seconds()
    for _ in range(AGAIN):
        model_admin.changelist_view(request).render()
    return (_processor_seconds() - start) / AGAIN


def _processor_seconds() -> float:
    """Add up what this process and its PostgreSQL backend have used."""
    from django.db import connection

    used = time.process_time()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (pid,) = cursor.fetchone()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def measure(n: int) -> bool:
    world.set_up()
    from django.apps import apps
    from django.contrib import admin
    from django.db import connection

    admin.autodiscover()
    user, good = fill(n), True
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"{connection.vendor}, {n:,} rows   ours s   Django's s   ratio")
    for name, dates in LISTS.items():
        ours = admin.site._registry[apps.get_model("crowd", name)]
        took = seconds(ours, user)
        stock = seconds(stock_of(ours, dates), user)
        print(f"{name:24s} {took:8.3f} {stock:12.3f} {took / stock:7.2f}")
        good &= took <= SECONDS_AT_MOST
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=N)
    parser.add_argument("--postgres", action="store_true")
    asked = parser.parse_args()
    with throwaway_postgres.server() if asked.postgres else nullcontext("") as url:
        if url:
            os.environ["DATABASE_URL"] = url
        good = measure(asked.rows)
    print("within the budget" if good else "OVER the budget")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
