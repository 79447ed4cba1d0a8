"""The interface to the queue: only this folder uses django-q2.

Delivery is at least once. A job takes primary keys, checks the state again, acts, and
queues the next step in the transaction that changed the state: the ORM broker keeps its
rows in the same database, so the queue is a transactional outbox. With an external
queue a job is sent after the commit; jobs lost between the two are queued again by the
periodic jobs.
"""

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import Min
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.brokers import Broker, get_broker
from django_q.conf import Conf
from django_q.models import Failure, OrmQ, Schedule
from django_q.monitor import save_task
from django_q.scheduler import scheduler
from django_q.signing import SignedPackage
from django_q.tasks import async_task

from genie.lib.logs import about, one_line
from genie.lib.queue import lanes, owners
from genie.lib.queue.waiting import WaitingJob, key_of

logger = logging.getLogger(__name__)

Key = int | str
# Rows per transaction; small, because others want to write, too.
AT_ONCE = 500
# Names of django-q2's own options, which it drops from a job's arguments.
_RESERVED = frozenset(
    [
        "hook",
        "group",
        "save",
        "sync",
        "cached",
        "ack_failure",
        "iter_count",
        "iter_cached",
        "chain",
        "broker",
        "cluster",
        "timeout",
        "q_options",
        "task_name",
        "func",
    ]
)


@dataclass(frozen=True)
class Periodic:
    name: str
    job: str
    minutes: int


def enqueue(job: str, **keys: Key) -> None:
    """Queue `job` (a dotted path) with primary keys, as part of the transaction."""
    for name, value in keys.items():
        if not isinstance(value, int | str):
            raise TypeError(f"Job {job} accepts only keys; {name} is {type(value)}.")
        if name in _RESERVED:
            raise TypeError(
                f"Job {job}: {name!r} is reserved as an option of the queue."
            )
    if in_database():
        async_task(job, **keys)
    else:  # an external worker could be faster than this transaction
        transaction.on_commit(partial(async_task, job, **keys))


def in_database() -> bool:
    return not isinstance(Conf.SQS, dict)


def queued_jobs(
    among: Iterable[tuple[str, Mapping[str, Key]]] | None = None,
) -> set[tuple[str, tuple[tuple[str, Key], ...]]]:
    """Return the jobs waiting or running, all or among some: (job, its keys in order).

    An external queue does not show its jobs.
    """
    rows = WaitingJob.objects.all()
    if among is not None:
        rows = rows.filter(key__in=[key_of(job, keys) for job, keys in among])
    found = [json.loads(key) for key in rows.values_list("key", flat=True)]
    return {(job, tuple(map(tuple, keys))) for job, keys in found}


def enqueue_missing(listed: Iterable[tuple[str, Mapping[str, Key]]]) -> int:
    """Queue those jobs that are not in the queue already; return how many.

    This only saves work: two callers at once may both queue one, and jobs tolerate
    that. An external queue shows only its length, so jobs are added only when it is
    empty.
    """
    if not in_database() and n_waiting():
        return 0
    listed, n_missing = list(listed), 0
    for first in range(0, len(listed), AT_ONCE):
        some = listed[first : first + AT_ONCE]
        present = queued_jobs(some)
        missing = [
            (job, keys)
            for job, keys in some
            if (job, tuple(sorted(keys.items()))) not in present
        ]
        n_missing += len(missing)
        with transaction.atomic() if missing else nullcontext():
            for job, keys in missing:
                enqueue(job, **keys)
    return n_missing


def _unpack(payload: str) -> dict[str, Any] | None:
    """Read a queued job; None if another secret key or version wrote it."""
    try:
        return dict(SignedPackage.loads(payload))
    except Exception as error:  # noqa: BLE001 - unpickling raises whatever it likes
        logger.warning("A queued job cannot be read: %s", one_line(error))
        return None


def n_waiting() -> int:
    if not in_database():
        broker = get_broker()
        return int(broker.queue_size() or 0) + int(broker.lock_size() or 0)
    return int(OrmQ.objects.count())


def run_next() -> bool:
    """Run one job from the queue in this process; False if none waits.

    A failing job is recorded and tried again as in a cluster.
    """
    broker = get_broker()
    claims = broker.claim(lanes.names()) if in_database() else broker.dequeue()
    for receipt, payload in claims or ():
        _work_off(broker, receipt, payload)
    return bool(claims)


def _work_off(broker: Broker, receipt: int | str, payload: str) -> None:
    task = _unpack(payload)
    if task is None:
        broker.acknowledge(
            receipt
        )  # as a cluster does it; `advance` queues missing jobs
        return
    task.update(_run(task), stopped=timezone.now(), ack_id=receipt, sync=True)
    settle(task, broker)


def settle(task: dict[str, Any], broker: Broker) -> None:
    """Remove a job that succeeded; record one that failed, to be tried again."""
    with transaction.atomic():
        save_task(task, broker)
        if task["success"]:
            broker.acknowledge(task["ack_id"])


def _run(task: dict[str, Any]) -> dict[str, Any]:
    try:
        with about(job=str(task["id"]), func=str(task["func"])):
            import_string(task["func"])(**task["kwargs"])
    except Exception as error:  # noqa: BLE001 - the queue records whatever a job raises
        logger.warning("Job %s failed: %s", task["func"], one_line(error))
        return {"result": one_line(error, 2_000), "success": False}
    return {"result": None, "success": True}


def drain(
    until: Callable[[], bool] | None = None, *, seconds: float | None = None
) -> bool:
    """Work through the queue in this process until it is empty or `until()` is true.

    Return whether `until()` was true (or, without it, whether the queue became empty).
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        if until is not None and until():
            return True
        if deadline is not None and time.monotonic() > deadline:
            return False
        if run_next():
            continue
        if until is None:
            return True
        time.sleep(0.2)  # another process has the job


def install(table: Iterable[Periodic]) -> None:
    table = list(table)
    with transaction.atomic():
        Schedule.objects.exclude(name__in=[line.name for line in table]).delete()
        for line in table:
            import_string(line.job)  # one broken schedule stops all of them
            fields = {
                "func": line.job,
                "schedule_type": Schedule.MINUTES,
                "minutes": line.minutes,
                "repeats": -1,
            }
            if not Schedule.objects.filter(name=line.name).update(**fields):
                Schedule.objects.create(
                    name=line.name, next_run=timezone.now(), **fields
                )


def queue_periodic() -> None:
    scheduler(get_broker())


def undo_clock_jump() -> int:
    """Reset times in the future, set while the clock was ahead; return how many.

    Until then, periodic jobs would not run, nor would jobs queued or claimed meanwhile.
    """
    now = timezone.now()
    ahead = [
        row.pk
        for row in Schedule.objects.only("next_run", "minutes")
        if row.next_run > now + timedelta(minutes=2 * row.minutes)
    ]
    n = Schedule.objects.filter(pk__in=ahead).update(next_run=now) if ahead else 0
    return int(
        n
        + OrmQ.objects.filter(lock__gt=now + timedelta(seconds=2 * Conf.RETRY)).update(
            lock=now
        )
    )


def longest_overdue() -> timedelta | None:
    """Return the maximal delay of the periodic jobs; None if no queue ever started."""
    next_run = Schedule.objects.aggregate(first=Min("next_run"))["first"]
    return None if next_run is None else timezone.now() - next_run


def oldest_waiting_seconds() -> float | None:
    """Return the age of the oldest job in the queue; None if it is unknown."""
    row = OrmQ.objects.order_by("pk").first() if in_database() else None
    task = _unpack(row.payload) if row else None
    if task is None:
        return None
    return max(0.0, float((timezone.now() - task["started"]).total_seconds()))


def queues() -> list[str]:
    return [str(row) for row in owners.heard_of()]


def n_failed(days: int) -> int:
    return int(
        Failure.objects.filter(
            stopped__gte=timezone.now() - timedelta(days=days)
        ).count()
    )


def latest_failures(n: int) -> list[Failure]:
    return list(Failure.objects.order_by("-stopped")[:n])


def forget_old(days: int = 30) -> None:
    """Delete the records of failures older than `days`."""
    Failure.objects.filter(stopped__lt=timezone.now() - timedelta(days=days)).delete()


def retry_failure(pk: str) -> None:
    failure = Failure.objects.filter(pk=pk).first()
    if failure is None:
        raise ObjectDoesNotExist(f"There is no failed job {pk}.")
    with transaction.atomic():
        enqueue(failure.func, **(failure.kwargs or {}))
        failure.delete()
