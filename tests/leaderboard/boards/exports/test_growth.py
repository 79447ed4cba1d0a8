"""Exports cost twice as much for twice the rows, and once per version of a board."""

import time
from unittest.mock import Mock

import pytest
from django.core.cache import caches
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from genie.lib import jobs
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.boards.selectors.rows import fetch_rows
from leaderboard.submissions.models import Submission
from tests.factories import make_many_ranked

BOARD = "/tasks/tidy-news"


@pytest.fixture
def grow(task, who):
    def made(n):
        make_many_ranked(task, n, **who)
        caches["shared"].clear()

    return made


def made(client, path):
    """Ask for a file twice: the first request has it made."""
    first = client.get(f"{BOARD}/{path}")
    assert (first.status_code, first.headers["Retry-After"]) == (202, "5")
    client.get(f"{BOARD}/{path}")
    assert jobs.drain()
    return client.get(f"{BOARD}/{path}")


def n_queries(client, path):
    with CaptureQueriesContext(connection) as asked:
        assert client.get(f"{BOARD}/{path}").status_code == 200
    return len(asked)


@pytest.mark.parametrize("name", ["board.csv", "every-eval-ever.json"])
def test_another_filter_fetches_no_row_anew(client, grow, monkeypatch, name):
    fetched = []

    def noted(*args):
        fetched.append(args)
        return fetch_rows(*args)

    monkeypatch.setattr("leaderboard.boards.selectors.rows.fetch_rows", noted)
    grow(120)
    whole, part = (made(client, f"{name}{more}") for more in ("", "?q=2&sort=system"))
    assert len(fetched) == 1
    assert len(part.content) < len(whole.content)
    assert n_queries(client, name) <= 8
    assert client.get(f"{BOARD}/{name}").headers["ETag"] == whole.headers["ETag"]
    again = client.get(f"{BOARD}/{name}", headers={"If-None-Match": whole["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert len(fetched) == 1


def test_an_old_file_is_made_anew_by_one_job_whatever_is_busy(client, grow, monkeypatch):  # fmt: skip
    grow(120)
    made(client, "board.csv")
    monkeypatch.setattr(time, "time", lambda: 1e11)  # long after
    monkeypatch.setattr(jobs, "in_database", lambda: False)
    monkeypatch.setattr(jobs, "n_waiting", lambda: 3)
    enqueue = Mock(side_effect=OperationalError("database is locked"))
    monkeypatch.setattr(jobs, "enqueue", enqueue)
    assert {client.get(f"{BOARD}/board.csv").status_code for _ in range(2)} == {202}
    assert enqueue.call_count == 1


@pytest.mark.parametrize(
    "name",
    ["metrics/files/mtme.zip", "metrics/files/judgments.csv", "board.png", "feed.atom"],
)
def test_a_job_makes_every_file_of_a_long_board(client, grow, name):
    grow(120)
    whole = made(client, name)
    assert n_queries(client, name) <= 8
    # a query that a file does not read asks for no other file
    again = client.get(
        f"{BOARD}/{name}?more=1", headers={"If-None-Match": whole["ETag"]}
    )
    assert again.status_code == 304
    assert ("attachment" in whole.headers.get("Content-Disposition", "")) == (
        "metrics" in name
    )


def test_ranks_of_a_long_board_are_kept_until_a_system_is_hidden(task, grow):
    grow(120)
    first, *others = ranked_pks(task)
    with CaptureQueriesContext(connection) as asked:
        assert ranked_pks(task) == [first, *others]
    assert not any("rank_first" in one["sql"] for one in asked)
    Submission.objects.filter(pk=first).update(visibility="PRIVATE")
    assert ranked_pks(task) == others
