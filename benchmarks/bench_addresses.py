"""Every address that names a task or a system, on a board of 5,000: CPU, queries, bytes.

Goals: 150 ms of the processor with nothing cached, 40 ms warm, 20 queries; a second
request with the ETag gets 304. The database is in the process, so its part is counted.
Each time is the least of three, because the machine may do other work: all caches are
emptied before each cold one.

    python -m benchmarks.bench_addresses                 a visitor's pages, files and API
    python -m benchmarks.bench_addresses --as submitter  ... a submitter's
    ... --systems 500 --only compare                     a quick look
    ... --board pairs                                    another kind of board: see BOARDS
    ... --folder DIR                                     make the world there, or use it
"""

import argparse
import pickle
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import world

COLD_MS, WARM_MS, QUERIES = 150.0, 40.0, 20
AGAIN = 3
# addresses without a row in them
MORE = ("", "tasks/", "history/", "how-it-works/", "feed.atom", "sitemap.xml", "card.png",
        "status/", "docs/", "api/v1/tasks/", "api/v1/submissions/", "submissions/",
        "api/v1/comparisons/", "api/v1/joint-evaluations/", "api/v1/metric-scores/",
        "api/v1/history/", "api/v1/history/entries/", "api/v1/whoami/", "api/v1/teams/")  # fmt: skip


def criteria(who: dict[str, Any], n: int) -> Any:
    """Make a board with three questions about each output."""
    from leaderboard.models import Score, Task
    from tests.walk import worlds

    task = worlds.many(who, n)
    named = {
        "overall": "Is it good?",
        "fluency": "Is it fluent?",
        "truth": "Is it true?",
    }
    human = {**task.config["human"], "criteria": named}
    Task.objects.filter(pk=task.pk).update(config={**task.config, "human": human})
    rows = list(Score.objects.filter(submission__task=task))
    for name in ("fluency", "truth"):
        for row in rows:
            row.pk, row.criterion = None, name
        Score.objects.bulk_create(rows)
    return Task.objects.get(pk=task.pk)


def plain(who: dict[str, Any], n: int) -> Any:
    from tests.walk import worlds

    return worlds.many(who, n)


def pairs(who: dict[str, Any], n: int) -> Any:
    """Make a board whose systems are compared in pairs only, a hundred pairs so far."""
    from crowd import hit_templates
    from leaderboard.models import Comparison, HumanEvaluation, Score, Submission, Task
    from leaderboard.tasks.models import GENERAL
    from tests.walk import worlds

    task = worlds.many(who, n)
    Score.objects.filter(submission__task=task).delete()
    rows = Submission.objects.filter(task=task)
    rows.update(published_at=None)
    HumanEvaluation.objects.filter(task=task).update(state="REQUESTED")
    usual = dict(hit_templates.stored_templates()[GENERAL].questions)
    human = {**task.config["human"], "hit_template": GENERAL, "criteria": usual}
    asked = {"criteria": {"better": "Which one is better?"}}
    config = {**task.config, "human": human, "comparison": asked}
    Task.objects.filter(pk=task.pk).update(config=config)
    systems = list(rows.order_by("pk")[:101])
    for a, b in pairwise(systems):
        Comparison.objects.create(
            task=task, a=a, b=b, criterion="better", delta=0.05, rule="beta-mixture",
            state="UNDECIDED", design="preference", n_instances=8,
            seed=1, requested_by=who["boss"], wave_size=8, max_pairs=8, n_labels=8,
        )  # fmt: skip
    return Task.objects.get(pk=task.pk)


BOARDS: dict[str, Callable[[dict[str, Any], int], Any]] = {
    "plain": plain,
    "criteria": criteria,
    "pairs": pairs,
}


def filled(folder: Path, board: str, n: int) -> Any:
    """Return the world of a folder, made if it is empty."""
    from tests.walk import worlds

    file = folder / "world.pickle"
    if not file.exists():
        found = worlds.world("growth", lambda who: BOARDS[board](who, n))
        file.write_bytes(pickle.dumps(found))
    return pickle.loads(file.read_bytes())


def content(client: Any, path: str, **headers: str) -> tuple[Any, int]:
    response = client.get(path, headers=headers)
    body = (
        b"".join(response.streaming_content) if response.streaming else response.content
    )
    return response, len(body)


def forget() -> None:
    from django.core.cache import caches

    for cache in caches.all():
        cache.clear()


def measure(client: Any, path: str) -> tuple[Any, ...] | None:
    """Return CPU ms and queries when cold and when warm, bytes, and the second status."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from genie.lib import jobs

    response, _ = content(client, path)  # templates and imports
    if response.status_code not in {200, 202}:
        return None

    def ask() -> tuple[float, int]:
        with CaptureQueriesContext(connection) as asked:
            start = time.process_time()
            content(client, path)
            return 1000 * (time.process_time() - start), len(asked)

    def ask_anew() -> tuple[float, int]:
        forget()
        return ask()

    cold, cold_queries = min(ask_anew() for _ in range(AGAIN))
    jobs.drain()
    ask()
    warm = min(ask() for _ in range(AGAIN))
    response, size = content(client, path)
    tag = response.headers.get("ETag", "")
    again = content(client, path, if_none_match=tag)[0].status_code if tag else 0
    return cold, cold_queries, *warm, size, again


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=5_000)
    parser.add_argument("--as", dest="role", default="visitor")
    parser.add_argument("--only", default="", help="paths with this text")
    parser.add_argument("--board", default="plain", choices=BOARDS)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with ExitStack() as stack:
        if asked.folder:
            asked.folder.mkdir(exist_ok=True)
        folder = world.set_up(asked.folder)
        if not asked.folder:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["testserver"]
        settings.GENIE["FILES_PER_HOUR"] = 10**6
        from genie.accounts import throttles
        from tests import decoys  # gives models their "own"
        from tests.walk import routes

        assert decoys
        throttles.FileThrottle.rate = "1000000/hour"
        found = filled(folder, asked.board, asked.systems)
        client = found.client(asked.role)
        rows = routes.rows_of(found)
        for name in ("SUBMISSION", "COMPARISON"):
            rows[name] = rows[name][:1]
        chosen = dict.fromkeys(
            path
            for route in routes.routes()
            if routes.names_rows(route)
            for path in routes.paths(route, found, rows)
        )
        print(
            f"| {asked.systems:,} systems | cold ms | queries | warm ms | queries | kB | again | |"
        )
        print("|---|---|---|---|---|---|---|---|", flush=True)
        for path in [*(f"/{one}" for one in MORE), *chosen]:
            if asked.only not in path or not (row := measure(client, path)):
                continue
            cold, n, warm, again_n, size, again = row
            over = cold > COLD_MS or warm > WARM_MS or max(n, again_n) > QUERIES
            print(
                f"| {path} | {cold:.0f} | {n} | {warm:.0f} | {again_n} | {size / 1000:.0f} "
                f"| {again or '-'} | {'OVER' if over else ''} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
