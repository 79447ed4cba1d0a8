"""Exports cost twice as much for twice the rows, and once per version of a board."""

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.boards.selectors.rows import fetch_rows
from tests.factories import make_many_ranked

BOARD = "/tasks/tidy-news"


@pytest.fixture
def grow(task, who):
    def made(n):
        make_many_ranked(task, n, **who)
        caches["shared"].clear()

    return made


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
    whole = client.get(f"{BOARD}/{name}").content
    first = n_queries(client, f"{name}?q=1")
    part = client.get(f"{BOARD}/{name}?q=2&sort=system").content
    assert len(fetched) == 1
    assert len(part) < len(whole)
    assert first <= 8
