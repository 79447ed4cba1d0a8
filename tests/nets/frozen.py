"""Boards that are the same in every process, on every day and every machine."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

from django.utils import timezone

from leaderboard.metrics import meteor
from quality.bans import services
from tests import factories
from tests.leaderboard.releases.test_judges_in_releases import done, judge_of
from tests.nets.years import error_rows
from tests.walk import worlds

MADE_AT = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)


def freeze(monkeypatch, settings, folder) -> Callable[[int], None]:
    """Stop the clock and draw no secret; return what puts the clock days ahead."""

    class Clock(datetime):
        days = 0

        @classmethod
        def now(cls, tz=None):
            return (MADE_AT + timedelta(days=cls.days)).astimezone(tz)

    numbers = count(1)

    def draw(n: int = 32) -> bytes:
        return next(numbers).to_bytes(n, "big")

    monkeypatch.setattr(timezone, "datetime", Clock)
    monkeypatch.setattr(secrets, "token_bytes", draw)
    monkeypatch.setattr(secrets, "token_hex", lambda n=32: draw(n).hex())
    monkeypatch.setattr(factories, "_number", count(1))
    # kept rows would have the times of the day on which they were made
    monkeypatch.setattr(worlds, "kept", lambda _name, make: make())
    # it is not on every machine
    monkeypatch.setattr(meteor, "wordnet_folder", lambda: folder / "no WordNet")
    # where the queue's owner is kept, which is drawn once
    settings.VAR_DIR = folder / "var"
    settings.VERSION = "0"
    settings.GENIE = {**settings.GENIE, "SITE_URL": "https://genie.example"}
    return lambda days: setattr(Clock, "days", days)


def people(who: dict):
    """Take a board through everything that a release has tables for."""
    task = worlds.run_board(who, sample_size=8)
    hit = task.submissions.first().human_evaluation.campaign.hits.first()
    worker = hit.assignments.first().worker
    services.ban(worker, task.slug, by=who["boss"], reason="Too fast.")
    worlds.ask_people("comparison", task, who)
    worlds.ask_people("joint", task, who)
    task = worlds.as_by_people(task)
    done(judge_of(), task)
    return task


def preference(who: dict):
    form = {"hit_template": "preference-summarization", "scale": "preference-5"}
    return worlds.as_by_people(
        worlds.run_board(who, design="preference", sample_size=8, **form)
    )


def spans(_who: dict):
    """Import errors that people marked, as WMT's files of MQM have them."""
    folder = error_rows(Random(1), 0)
    files = {name: data.decode() for name, data in folder.files.items()}
    return worlds.brought("old-errors", files)


BOARDS = {
    "people": people,
    "preference": preference,
    "full": worlds.full,
    "ratings": worlds.imported(texts=True),
    "conversations": worlds.conversations,
    "spans": spans,
    "magnitudes": worlds.pages(
        lambda rng, s: round(60 * (s + 1) * rng.uniform(0.8, 1.4))
    ),
}
