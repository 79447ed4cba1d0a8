"""CPU milliseconds that `advance` and a claim take while very many jobs wait.

python -m benchmarks.bench_jobs [--waiting 100000]
"""

import argparse
import statistics
import sys
import time

from benchmarks import world

AT_MOST_MS = 50.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiting", type=int, default=100_000)
    n = parser.parse_args().waiting
    world.set_up()
    from django.utils import timezone
    from django_q.brokers import get_broker
    from django_q.models import OrmQ

    from genie.lib import jobs
    from genie.lib.queue.waiting import WaitingJob, key_of
    from leaderboard.jobs import advance

    jobs.enqueue("leaderboard.jobs.measure_piece", pk=0)
    payload = OrmQ.objects.get().payload
    now = timezone.now()
    rows = OrmQ.objects.bulk_create(
        [OrmQ(key="long", payload=payload, lock=now) for _ in range(n)], 5_000
    )
    keys = [key_of("leaderboard.jobs.measure_piece", {"pk": row.pk}) for row in rows]
    pairs = zip(rows, keys, strict=True)
    WaitingJob.objects.bulk_create(
        [WaitingJob(row=row, lane="long", key=key) for row, key in pairs], 5_000
    )
    wanted = [("leaderboard.jobs.measure_piece", {"pk": row.pk}) for row in rows[:1000]]
    money = get_broker("money")
    slowest = 0.0
    for name, work in {
        "advance": advance,
        "a thousand that wait already": lambda: jobs.enqueue_missing(wanted),
        "a claim in a lane without jobs": lambda: money.claim(["money"]),
        "a claim in the full lane": lambda: money.claim(["long"]),
    }.items():
        taken = []
        for _ in range(7):
            began = time.process_time()
            work()
            taken.append(1000 * (time.process_time() - began))
        print(f"{name}: {statistics.median(taken):.1f} ms (slowest {max(taken):.1f})")
        slowest = max(slowest, statistics.median(taken))
    return int(slowest > AT_MOST_MS)


if __name__ == "__main__":
    sys.exit(main())
