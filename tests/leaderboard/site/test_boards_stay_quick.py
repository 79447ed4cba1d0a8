"""A board asks the same few queries however many submissions it has."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.boards.selectors import columns
from leaderboard.boards.selectors.columns import ManyRanks
from leaderboard.boards.selectors.rows import standings
from tests.factories import (
    answer,
    make_evaluation,
    make_many_ranked,
    make_ranked,
    make_submission,
    make_worker,
)

MOST_QUERIES = 21


def queries(client, address):
    with CaptureQueriesContext(connection) as captured:
        response = client.get(address)
    assert response.status_code == 200
    return [query["sql"] for query in captured]


@pytest.fixture
def five(task, who):
    for mean in (80, 70, 60):
        make_ranked(task, mean, **who)
    for _ in range(2):
        waiting = make_submission(task, **who, state="ANNOTATING")
        evaluation = make_evaluation(waiting)
        answer(evaluation.subjects.first().item, make_worker())


def test_as_many_queries_with_5_systems_as_160(client_of, five, task, team, submitter):
    address = "/tasks/tidy-news/"
    asked = {
        "visitor": address,
        "submitter": f"{address}?sort=sacrebleu&dir=asc&columns=all",
    }
    few = {who: queries(client_of(who), asked[who]) for who in asked}

    make_many_ranked(task, 155, team=team, owner=submitter)

    for who, first in asked.items():
        client = client_of(who)
        first_page = queries(client, first)
        # where the rows that people are judging stand: one question more, how far they are
        waiting_page = queries(client, f"{first}{'&' if '?' in first else '?'}page=2")
        assert len(first_page) <= len(waiting_page) == len(few[who]) <= MOST_QUERIES


def test_no_query_reads_the_numbers_of_single_instances(client, five):
    assert not any(
        "per_instance" in sql for sql in queries(client, "/tasks/tidy-news/")
    )


def test_a_page_has_100_rows_and_leads_on(client, task, who):
    make_many_ranked(task, 300, **who)

    first = client.get("/tasks/tidy-news/").content.decode()
    last = client.get("/tasks/tidy-news/?page=3").content.decode()
    beyond = client.get("/tasks/tidy-news/?page=99999999999999999999")

    assert first.count("<tr") - 1 == 100
    assert "rows 1–100 of 300" in first
    assert "?page=2" in first
    assert last.count("<tr") - 1 == 100
    assert "rows 201–300 of 300" in last
    # ranks on later pages are of the whole board
    assert re.search(r'<td class="rk[^>]*>[0-9]+–300<', last)
    assert beyond.status_code == 404


def test_many_systems_are_ranked_more_cautiously(task, monkeypatch, who):
    for mean, system in ((80, "First"), (60, "Second"), (59, "Third"), (20, "Last")):
        make_ranked(task, mean, system=system, **who)
    ranks, made = ManyRanks.ranks, []
    monkeypatch.setattr(ManyRanks, "ranks", lambda *of: made.append(of) or ranks(*of))

    def shown():
        board = standings(task)
        assert (board.n_first, made) == (1, [])
        return [(row.rank_first, row.rank_last, row.cluster) for row in board[:3]]

    assert shown() == [(1, 1, 1), (2, 3, 2), (2, 3, 2)]
    monkeypatch.setattr(columns, "_MANY", 3)
    assert shown() == [(1, 1, None), (2, 3, None), (2, 3, None)]
    # only those on the page
    assert len(made) == 3
