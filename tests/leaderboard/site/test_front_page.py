"""The front page: the best of every task, the latest results, honest numbers."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crowd.models import Assignment, LedgerEntry
from genie.lib.serving.caches import computed
from leaderboard.boards.selectors import home
from leaderboard.boards.views import tasks
from leaderboard.models import Score, Submission
from leaderboard.site.views import pages
from tests.factories import (
    answer,
    make_evaluation,
    make_many_ranked,
    make_ranked,
    make_score,
    make_submission,
    make_task,
    make_worker,
    pay,
)


@pytest.fixture
def who(team, submitter):
    return {"team": team, "owner": submitter}


def numbers(response):
    """Give the live numbers by their words."""
    return {
        re.sub(r"\s+", " ", words): value
        for words, value in re.findall(
            r"<dt>([^<]+)</dt><dd>([^<]+)</dd></div>", response.content.decode()
        )
    }


def test_an_empty_site_says_what_to_do(client, db, read):
    words = read(client.get("/"))

    assert "No benchmark task is loaded yet." in words
    assert "Nothing has been published yet." in words


def test_a_card_names_the_three_best_of_its_task(client, task, who):
    for name, mean in [("D", 40), ("A", 80), ("C", 50), ("B", 60)]:
        make_ranked(task, mean, system=name, **who)
    other = make_task("tidy-talk", title="Tidy talk")
    make_ranked(other, 20, system="E", **who)

    html = client.get("/").content.decode()

    cards = (
        html.split('class="cards"')[1].split("</ul>")[0].split('<li class="card')[1:]
    )
    found = {
        re.search(r"<h3><a[^>]*>([^<]+)", card)[1]: re.findall(
            r"<bdi>(.*?)</bdi>", card
        )
        for card in cards
    }
    assert found == {"Tidy news": ["A", "B", "C"], "Tidy talk": ["E"]}


def test_private_waiting_and_superseded_results_are_on_no_card(client, task, who):
    make_ranked(task, 90, system="Secret", visibility="PRIVATE", **who)
    scored = make_submission(task, system="Early", state="SCORED", **who)
    make_score(scored, 95)
    old = make_ranked(task, 99.9, system="Again", **who)
    Score.objects.filter(submission=old).update(superseded_at=timezone.now())
    make_score(old, 11.1)

    html = client.get("/").content.decode()

    assert "Secret" not in html
    assert "Early" not in html
    assert "99.9" not in html
    assert "11.1" in html


def test_the_latest_results_come_newest_first_and_keep_anonymity(client, task, who):
    for name, days in [("Old", 3), ("New", 1)]:
        make_ranked(
            task,
            50,
            system=name,
            published_at=timezone.now() - timedelta(days=days),
            anonymous_until=timezone.localdate() + timedelta(days=1),
            **who,
        )

    news = client.get("/").content.decode().split('class="plain news"')[1]
    news = news.split("</ul>")[0]

    assert re.findall(r"<bdi>(.*?)</bdi>", news) == ["New", "Old"]
    assert news.count("anonymous") == 2


def test_simulated_results_are_marked_wherever_they_stand(client, task, who):
    make_ranked(task, 50, system="Robot", simulated=True, **who)

    html = client.get("/").content.decode()
    card = html.split('class="cards"')[1].split("</ul>")[0]
    news = html.split('class="plain news"')[1].split("</ul>")[0]

    assert "simulated: not rated by people" in card
    assert 'class="sim"><line' in card
    assert "simulated</span>" in news


def test_a_card_with_some_simulated_systems_does_not_call_all_of_them_so(
    client, task, who
):
    make_ranked(task, 50, system="Robot", simulated=True, **who)
    make_ranked(task, 60, system="Kite", **who)

    card = client.get("/").content.decode().split('class="cards"')[1].split("</ul>")[0]

    assert "partly simulated" in card
    assert "simulated: not rated by people" not in card


def test_the_numbers_count_what_people_did_and_programs_apart(client, task, who):
    kite = make_submission(task, state="ANNOTATING", **who)
    items = [j.item for j in make_evaluation(kite).judged_items.all()]
    wim = make_worker()
    pay(answer(items[0], wim), cents=30)
    pay(answer(items[1], wim), cents=12)
    pay(
        answer(items[2], make_worker(), state=Assignment.State.REJECTED),
        cents=99,
        state=LedgerEntry.State.CANCELLED,
    )
    robot = make_submission(task, state="ANNOTATING", simulated=True, **who)
    for judged in make_evaluation(robot).judged_items.all():
        pay(answer(judged.item, make_worker(simulated=True)), cents=50)
    make_submission(task, visibility="PRIVATE", **who)

    assert numbers(client.get("/")) == {
        "public submission": "1",
        "human ratings": "2",
        "worker": "1",
        "paid to workers": "$0.42",
        "simulated submissions, counted separately": "1",
        "simulated ratings, counted separately": "3",
    }


def test_the_front_page_asks_the_same_queries_with_many_results(
    client, task, team, submitter, django_assert_num_queries
):
    make_many_ranked(task, 5, team=team, owner=submitter)
    make_many_ranked(make_task("other"), 5, team=team, owner=submitter)

    with django_assert_num_queries(13):
        client.get("/")
    Submission.objects.update(published_at=timezone.now())
    for slug in ("third", "fourth"):
        make_many_ranked(make_task(slug), 300, team=team, owner=submitter)
    from genie.lib.serving.caches import computed as cache

    cache.clear()
    with django_assert_num_queries(13):
        client.get("/")


@pytest.mark.parametrize("path", ["/", "/tasks/"])
def test_many_cards_are_kept_until_something_happens(client, who, monkeypatch, path):
    monkeypatch.setattr(pages, "CARDS", 2)
    monkeypatch.setattr(tasks, "CARDS", 2)
    many = [make_task(f"task-{n}", title=f"Task {n}") for n in range(3)]
    kite = make_ranked(many[0], 50, system="Kite", **who)
    waiting = make_submission(many[2], state="ANNOTATING", **who)
    item = make_evaluation(waiting).judged_items.first().item
    assert "Kite" in client.get(path).text
    # by hand, without a trace: shown after a minute
    Submission.objects.filter(pk=kite.pk).update(system_name="Made anew")
    answer(item, make_worker())
    assert "Made anew" not in client.get(path).text
    make_ranked(many[1], 60, system="Wren", **who)
    found = client.get(path).text
    assert "Made anew" in found
    assert "Wren" in found


def test_browsers_that_ask_for_an_icon_get_the_sites_own(client, db):
    assert client.get("/favicon.ico")["Location"] == "/static/favicon.svg"


def test_pages_do_not_count_where_counting_takes_long(db, monkeypatch):
    now = time.time()
    monkeypatch.setattr(home, "_LONG_SECONDS", -1)
    monkeypatch.setattr(home.time, "time", lambda: now)
    home.count_again()
    kept = caches["shared"].get(home._KEY)
    # as if it had taken ten seconds
    caches["shared"].set(home._KEY, replace(kept, seconds=10), 86_400)

    def queries(ask):
        with CaptureQueriesContext(connection) as asked:
            computed.clear()
            ask()
        return len(asked)

    assert queries(home.numbers) == 0
    now += 400
    assert queries(home.count_again) == 0
    now += 101
    assert queries(home.numbers) == 0
    assert queries(home.count_again) > 0
    # nobody does the job
    caches["shared"].set(home._KEY, replace(kept, at=now - 10_001, seconds=10))
    assert queries(home.numbers) > 0
