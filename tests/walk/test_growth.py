"""Twice the systems, at most twice the work: counted, never timed."""

import sys
from dataclasses import dataclass

import pytest
from django.core.cache import caches
from django.db import connection
from django.db.backends.sqlite3.base import SQLiteCursorWrapper
from django.test.utils import CaptureQueriesContext

from genie.lib import jobs
from leaderboard.models import Score
from tests.factories import make_many_ranked
from tests.walk.grid import in_part
from tests.walk.routes import names_rows, paths, routes, rows_of
from tests.walk.worlds import World, many, world

pytestmark = pytest.mark.django_db
KIND = "growth"
# Twice the systems may cost a little more than twice: a logarithm, a longer number.
MOST = 2.2
# What is too little to tell growth from a detail.
LITTLE = {"rows": 100, "calls": 5_000, "bytes": 5_000}
# Queries are asked for all systems at once, or for tens of them: a tenth of 100.
MORE_QUERIES = 10
# Whose answers hold all systems.
WHOLE = {
    "leaderboard:board",
    "leaderboard:board-export",
    "leaderboard:board-records",
    "leaderboard:board-svg",
    "api:leaderboard",
}


@dataclass(frozen=True)
class Cost:
    """What one answer took."""

    queries: int
    rows: int
    calls: int
    bytes: int


class _Rows:
    """Count the rows that SQLite's cursors hand over."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.n = 0
        for name in ("fetchone", "fetchmany", "fetchall"):
            patch.setattr(
                SQLiteCursorWrapper, name, self._counting(name), raising=False
            )

    def _counting(self, name):
        def fetch(cursor, *given):
            found = getattr(super(SQLiteCursorWrapper, cursor), name)(*given)
            self.n += len(found) if isinstance(found, list) else found is not None
            return found

        return fetch


def _forget() -> None:
    for cache in caches.all():
        cache.clear()


def cost_of(client, path: str, rows: _Rows) -> Cost:
    _forget()
    n_calls = 0

    def count(_frame, event, _arg):
        nonlocal n_calls
        n_calls += event == "call"

    before = rows.n
    with CaptureQueriesContext(connection) as captured:
        sys.setprofile(count)
        try:
            answer = client.get(path)
            if answer.status_code == 202:  # the job is a part of the cost
                jobs.drain()
                answer = client.get(path)
            content = (
                b"".join(answer.streaming_content)
                if answer.streaming
                else answer.content
            )
        finally:
            sys.setprofile(None)
    assert answer.status_code < 500, path
    return Cost(len(captured), rows.n - before, n_calls, len(content))


def grown(first: Cost, second: Cost) -> list[str]:
    """Name what grew too fast from 100 to 200 systems."""
    wrong = []
    if second.queries > first.queries + MORE_QUERIES:
        wrong.append(f"queries from {first.queries} to {second.queries}")
    for name, little in LITTLE.items():
        a, b = getattr(first, name), getattr(second, name)
        if b > MOST * a and b - a > little:
            wrong.append(f"{name} from {a:,} to {b:,} ({b / max(a, 1):.1f}-fold)")
    return wrong


def addresses(found: World, chosen) -> list[str]:
    values, chosen_paths = rows_of(found), []
    for route in chosen:
        several = route.name.endswith(("-export", "-download", "-file"))
        chosen_paths += paths(route, found, values)[: None if several else 1]
    return chosen_paths


def check(chosen, monkeypatch) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("rows are counted at SQLite's cursors")
    rows = _Rows(monkeypatch)
    found = world(KIND, lambda who: many(who, 100), has_texts=False)
    client, asked = found.client("visitor"), addresses(found, chosen)
    for path in asked:  # templates, imports and all that is done once
        client.get(path)
    first = {path: cost_of(client, path, rows) for path in asked}
    system = found.task.submissions.order_by("pk").first()
    make_many_ranked(found.task, 100, team=system.team, owner=system.owner)
    Score.objects.filter(submission__task=found.task).update(n=8)
    second = {path: cost_of(client, path, rows) for path in asked}
    wrong = [
        f"GET {path}: {what}"
        for path, cost in first.items()
        for what in grown(cost, second[path])
    ]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def _named(*, whole: bool):
    return [
        route
        for route in routes()
        if names_rows(route)
        and (route.name in WHOLE) == whole
        and (whole or in_part(route, KIND))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False], ids=["of all systems", "of one"])
def test_for_twice_the_systems_answers_take_twice_the_work(whole, monkeypatch):
    check(_named(whole=whole), monkeypatch)
