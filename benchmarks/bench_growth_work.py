"""The worker's home and the next HIT with 10,000 and 100,000 open HITs.

Each is asked for by somebody who is new, who has seen every input, and who has seen all
but one; with campaigns as large as the board's, small ones, ones with nothing left, and
ones in which exposure is counted by campaign. Times are the least of several, with the
database's part in them; what must not grow is the ratio between the two sizes.

    python -m benchmarks.bench_growth_work              SQLite
    python -m benchmarks.bench_growth_work --postgres   a throw-away PostgreSQL server
    ... --sizes 1000 10000                              a quick look
"""

import argparse
import os
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

from benchmarks import throwaway_postgres, world

SIZES = (10_000, 100_000)
AGAIN = 5
POOL = "bench"
EACH = 880
SMALL = 40


@dataclass(frozen=True)
class Scene:
    """How many HITs a campaign has, and what is special about the campaigns."""

    each: int = EACH
    exposure: str = "task"
    taken: bool = False
    # how many HITs of ten are test questions, of one campaign with all HITs
    tests: int = 0


SCENES = {
    "campaigns of 880": Scene(),
    "campaigns of 40": Scene(each=SMALL),
    "all but one campaign taken": Scene(taken=True),
    "exposure by campaign": Scene(exposure="campaign"),
    "one campaign with test questions": Scene(each=SIZES[-1], tests=1),
}
PEOPLE = ("new", "seen everything", "seen all but one")


def make_campaigns(n_hits: int, scene: Scene) -> None:
    """Make running campaigns that show the same inputs."""
    from django.utils import timezone

    from crowd.hits.services.build import HITTypeSpec, ItemSpec, build_campaign
    from crowd.models import HIT, Campaign, Item, Pool
    from quality.models import TestQuestion

    kind = HITTypeSpec(
        template="question-answering",
        scale="likert-5",
        criteria={"overall": "This is a reasonable answer."},
        title="Judge answers",
        description="Read and say what you think.",
        keywords="text",
        reward_cents=5,
        assignment_seconds=1800,
    )
    data = {
        "fields": [{"label": "Question", "text": "Why?", "lang": "en"}],
        "prediction": "Because.",
        "lang": "en",
    }
    each = min(scene.each, n_hits)
    Pool.objects.create(slug=POOL)
    for number in range(n_hits // each):
        build_campaign(
            key=f"bench-{number}",
            pool=POOL,
            title="Bench",
            hit_type=kind,
            items=[ItemSpec(f"item-{i}", data, f"input-{i}") for i in range(each)],
            budget_cents=10**7,
            seed=number,
            starts_at=timezone.now(),
            exposure=scene.exposure,
        )
    Campaign.objects.update(state="RUNNING")
    items = Item.objects.filter(campaign__key="bench-0").order_by("pk")
    TestQuestion.objects.bulk_create(
        [
            TestQuestion(campaign_id=campaign, item_id=pk, polarity="NEGATIVE")
            for pk, campaign in items.values_list("pk", "campaign")
            if pk % 10 < scene.tests
        ],
        batch_size=2_000,
    )
    if scene.taken:
        last = Campaign.objects.latest("pk")
        HIT.objects.exclude(campaign=last).update(n_available=0)


def make_person(name: str, scene: Scene) -> Any:
    """Register a worker who has been shown some inputs and answered none of them."""
    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from crowd.models import HIT, Assignment
    from crowd.workers.services.invitations import give_consent, register_worker

    user = get_user_model().objects.create(username=name)
    worker = register_worker(platform_worker_id=name, user=user)
    give_consent(worker, POOL)
    if name == "new":
        return worker
    seen = HIT.objects.order_by("pk")
    if scene.exposure == "task":
        seen = seen[: scene.each]
    pks = list(seen.values_list("pk", flat=True))
    if name == "seen all but one":
        pks = pks[:-1]
    now = timezone.now()
    Assignment.objects.bulk_create(
        [
            Assignment(
                hit_id=pk,
                worker=worker,
                state="RETURNED",
                reward_cents=5,
                accepted_at=now,
                deadline_at=now,
            )
            for pk in pks
        ],
        batch_size=2_000,
    )
    return worker


def measured(call: Callable[[], Any]) -> tuple[float, int]:
    """Give the least milliseconds of several calls, and the queries of one."""
    from django.db import connection

    # SQLite is in this process: others on the machine do not count
    clock = time.process_time if connection.vendor == "sqlite" else time.perf_counter
    asked = []

    def count(execute: Any, *given: Any) -> Any:
        asked.append(given[0])
        return execute(*given)

    with connection.execute_wrapper(count):
        call()
    times = []
    for _ in range(AGAIN):
        start = clock()
        call()
        times.append(1000 * (clock() - start))
    return min(times), len(asked)


def once(n_hits: int, scene: Scene) -> dict[str, tuple[float, int]]:
    """Measure one size of one scene, and leave nothing behind."""
    from django.core.management import call_command
    from django.db import connection, transaction
    from django.test import Client
    from django.urls import reverse

    from crowd.campaigns.services.work import next_assignment
    from genie.lib.serving.caches import computed

    call_command("flush", interactive=False, verbosity=0)
    make_campaigns(n_hits, scene)
    found = {}
    # With test questions, who has seen 100,000 inputs is nobody.
    for name in PEOPLE[:1] if scene.tests else PEOPLE:
        worker = make_person(name, scene)
        client = Client()
        client.force_login(worker.user)

        def home(client: Any = client) -> None:
            assert client.get(reverse("work:home")).status_code == 200

        def next_hit(worker: Any = worker) -> None:
            # taken back, so that each call finds the same work
            with transaction.atomic():
                next_assignment(worker)
                transaction.set_rollback(True)

        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("analyze")
        found[f"home, {name}"] = measured(home)
        found[f"next HIT, {name}"] = measured(next_hit)

        def counted(next_hit: Callable[[], None] = next_hit) -> None:
            computed.clear()
            next_hit()

        if scene.tests:
            found[f"next HIT, {name}, counted"] = measured(counted)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--sizes", type=int, nargs=2, default=SIZES)
    parser.add_argument("--scene", choices=SCENES, action="append")
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
        print("PostgreSQL" if asked.postgres else "SQLite")
        for title in asked.scene or SCENES:
            before, after = (once(n, SCENES[title]) for n in (small, large))
            print(f"{title:34}{small:>10,}{'':>9}{large:>10,}   open HITs")
            for name, (ms, n) in before.items():
                more_ms, more = after[name]
                print(
                    f"  {name:32}{ms:7.1f} ms{n:4} queries{more_ms:8.1f} ms"
                    f"{more:5} queries{more_ms / ms:7.2f} x"
                )
        connections.close_all()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
