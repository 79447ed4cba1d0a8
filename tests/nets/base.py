"""The site in `releases/0.1.0`: made by 0.1.0 with `make`, and never made again."""

import json
import lzma
import re
from datetime import date
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection
from django.test import Client

from crowd.campaigns.services import review
from crowd.models import Worker
from crowd.money.services import payouts
from genie.lib import jobs
from leaderboard.evaluation import decide
from leaderboard.models import OutsideMetric, OutsideScores, Task
from leaderboard.releases import queued
from quality.appeals import services as appeals
from quality.bans.models import Ban
from tests import decoys  # noqa: F401 - `own` of each model
from tests.crowd.money.test_payouts import filed, save, terms, told
from tests.factories import asked_about, make_user
from tests.nets import frozen
from tests.nets.releases import lost
from tests.walk import routes, worlds

BASE = Path(__file__).parent / "releases/0.1.0"
# Whose answers are compared; other pages only have to answer.
NUMBERS = re.compile(
    r"/api/v1/(tasks/.*/(leaderboard|differences|metric-board)/"
    r"|comparisons/|joint-evaluations/|history/$)"
)
# of the admin, only the lists
NO_ROWS = re.compile(r"/(docs|account|api/docs|api/schema)/|/admin/(?!\w+/\w+/$)")
ROLES = {"visitor": None, "submitter": "nina", "worker": "vic", "superuser": "boss"}


def make(archive: str) -> None:
    """Fill the empty, migrated site of GENIE_VAR and back it up, with its keys."""
    version = settings.VERSION
    with pytest.MonkeyPatch.context() as patch:
        set_day = frozen.freeze(patch, settings, Path(settings.VAR_DIR))
        settings.VERSION = version
        patch.setattr(queued, "available", lambda: False)  # Parquet would double it
        who = worlds.accounts()
        task = frozen.people(who, _board)
        tasks = [task, worlds.conversations(who)]
        first = task.submissions.order_by("pk")[0]
        metric = OutsideMetric.objects.create(
            task=task, owner=who["submitter"], name="MyScore", file_name="scores.csv",
            file_sha256="0" * 64, file_format="csv", by_instance=False,
            published_at=first.published_at,
        )  # fmt: skip
        for place, system in enumerate(task.submissions.exclude(published_at=None)):
            OutsideScores.objects.create(metric=metric, submission=system, value=place)
        rater = Ban.in_force.get().worker
        Worker.objects.filter(pk=rater.pk).update(user=make_user("vic"))
        rater.refresh_from_db()
        appeals.against_ban(rater, task.slug, "I read each text <twice>.")
        review.approve(rater.assignments.values_list("pk", flat=True))
        save(rater), terms()
        [run] = payouts.plan(date(2026, 3, 2), who["boss"])
        filed(run, who["boss"])
        told(who["boss"], (run.payouts.get(), "paid", ""))
        for day in (1, 2):  # published scores change once a day
            set_day(day)
            worlds.settle()
        for one in tasks:
            queued.request(one)
        jobs.drain()
    connection.cursor().execute("VACUUM")
    call_command("backup", archive, with_key=True)


def _board(who: dict, **human) -> Task:
    """Add a team with a primary and a contrastive system to the usual three."""
    task = worlds.run_board(who, **{**human, "sample_size": 6})
    for entry, share in {"primary": 0.8, "contrastive": 0.5}.items():
        made = worlds.hand_in(task, who["rival"], f"Rook, {entry}", share, entry=entry)
        decide.approve(asked_about(made), by=who["boss"], start_now=True)
    crowd = worlds.crowd_of(task)
    for _ in range(6):
        worlds.settle()
        crowd.work()
    worlds.settle()
    return task


def record() -> None:
    """Write down which addresses answer, and some of the answers: done once, too."""
    users = {role: name and _user(name) for role, name in ROLES.items()}
    found: dict[str, tuple] = {}
    for task in Task.objects.order_by("pk"):
        world = worlds.World("", task, users)
        rows = routes.rows_of(world)
        for route in routes.routes():
            roles = ["superuser"] if route.is_admin else list(ROLES)[:3]
            for path in routes.paths(route, world, rows):
                for role in [] if path in found or NO_ROWS.match(path) else roles:
                    if (answer := ask(role, path)).status_code == 200:
                        told = answer.json() if NUMBERS.match(path) else None
                        found.setdefault(path, (role, told))
    (BASE / "answers.json.xz").write_bytes(lzma.compress(json.dumps(found).encode()))


def kept(name: str) -> dict:
    return json.loads(lzma.decompress((BASE / name).read_bytes()))


def check() -> None:
    """Check that the site of this process still answers as was written down."""
    for path, (role, before) in kept("answers.json.xz").items():
        answer = ask(role, path)
        assert answer.status_code == 200, path
        assert before is None or not [*lost(before, answer.json(), path)]


def ask(role: str, path: str):
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    if ROLES[role]:
        client.force_login(_user(ROLES[role]))
    answer = client.get(path)
    if answer.status_code == 202:  # a file that a job makes
        jobs.drain()
        answer = client.get(path)
    return answer


def _user(name: str):
    return get_user_model().objects.get(username=name)
