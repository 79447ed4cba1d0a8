"""The front page: a board, the ways in, and the best of every task."""

import re
import time
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from leaderboard.boards.selectors import version
from leaderboard.boards.views import tasks
from leaderboard.models import HumanEvaluation, Score, Submission
from leaderboard.site import views
from tests.each import each
from tests.factories import (
    answer,
    make_evaluation,
    make_many_ranked,
    make_ranked,
    make_score,
    make_submission,
    make_task,
    make_worker,
)


def test_an_empty_site_says_what_to_do(client, db, read):
    words = read(client.get("/"))

    assert "No benchmark task is loaded yet." in words
    # neither zeros nor an invented board
    assert "So far" not in words
    assert not re.search(r"\b0\b", words)
    html = client.get("/").text
    assert "<table" not in html
    own = html.split("Run your own evaluation</h2>")[1].split("</section>")[0]
    assert client.get(re.search(r'href="([^"]+)"', own)[1]).status_code == 200


def test_the_foot_of_every_page_leads_on(client, db, settings):
    links = {"CONTACT": "", "SOURCE_URL": ""}
    settings.GENIE = {**settings.GENIE, **links}
    foot = client.get("/no-such-page/").text.split("<footer")[1]
    for name in ("how-it-works", "api/docs", "status", "history", "privacy"):
        address = f"/{name}/"
        assert f'href="{address}"' in foot
        assert client.get(address).status_code == 200
    assert "Contact" not in foot
    assert "Source" not in foot
    links = {"CONTACT": "mailto:us@heron.example", "SOURCE_URL": "https://code.example"}
    settings.GENIE = {**settings.GENIE, **links}
    foot = client.get("/no-such-page/").text.split("<footer")[1]
    assert 'href="mailto:us@heron.example" rel="noopener">Contact<' in foot
    assert 'href="https://code.example" rel="noopener">Source code<' in foot


def leaders(html):
    board = html.split('class="leading"')[1].split("</table>")[0].split("<tbody>")[1]
    cells = re.sub(r"<svg.*?</svg>", "", board, flags=re.S)
    return [" ".join(strip_tags(row).split()) for row in cells.split("</tr>")[:-1]]


def test_the_board_with_the_newest_result_leads_with_intervals(client, task, who):
    older = make_task("older", title="Older news")
    long_ago = timezone.now() - timedelta(days=9)
    make_ranked(older, 90, system="Dusty", published_at=long_ago, **who)
    make_ranked(task, 40, half=1, system="Low", **who)
    make_ranked(task, 80, half=1, system="High", **who)
    make_ranked(task, 99, system="Robot", simulated=True, **who)
    make_submission(task, system="Waiting", **who)

    html = client.get("/").text

    assert "Leaders on <a" in html
    assert leaders(html)[0].startswith("1 Robot simulated")
    assert [row.split()[1] for row in leaders(html)] == ["Robot", "High", "Low"]
    assert "80.0 [79.0, 81.0]" in leaders(html)[1]
    assert "Waiting" not in html
    # it stands at the top, and not again among the others
    assert list(cards(html)) == ["Older news"]
    # a newer board of programs comes after it
    newer = make_task("newer", title="Newer news")
    make_ranked(newer, 90, system="Program", simulated=True, **who)
    assert leaders(client.get("/").text)[1].split()[1] == "High"


@each("hidden", ["PRIVATE", "partial", "withdrawn"])
def test_no_board_leads_where_nothing_public_is_ranked(client, task, who, hidden):
    kite = make_ranked(task, 80, system="Kite", **who)
    if hidden == "partial":
        kite.evaluation.scores.update(n=1)
        HumanEvaluation.own.update(n_instances=800)
    elif hidden == "withdrawn":
        Submission.own.update(own_state="WITHDRAWN")
    else:
        Submission.own.update(visibility=hidden)

    html = client.get("/").text

    assert 'class="leading"' not in html
    assert "See who leads" in html
    assert list(cards(html)) == ["Tidy news"]


def cards(html):
    if 'class="cards"' not in html:
        return {}
    texts = html.split('class="cards"')[1].split("</ul>")[0]
    return {
        re.search(r"<h3><a[^>]*>([^<]+)", card)[1]: re.findall(
            r"<bdi>(.*?)</bdi>", card
        )
        for card in texts.split('<li class="card')[1:]
    }


def test_a_card_names_the_three_best_of_its_task(client, task, who):
    for name, mean in [("D", 40), ("A", 80), ("C", 50), ("B", 60)]:
        make_ranked(task, mean, system=name, **who)
    other = make_task("tidy-talk", title="Tidy talk")
    make_ranked(other, 20, system="E", **who)

    make_ranked(make_task("newest", title="Newest"), 70, system="F", **who)

    found = cards(client.get("/").text)

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


def test_simulated_results_are_marked_wherever_they_stand(client, task, who):
    long_ago = timezone.now() - timedelta(days=9)
    make_ranked(task, 50, system="Robot", simulated=True, **who)
    make_ranked(make_task("people"), 50, system="Wren", **who)

    html = client.get("/").content.decode()
    card = html.split('class="cards"')[1].split("</ul>")[0]

    assert "simulated: not rated by people" in card
    assert 'class="sim"><line' in card

    # a card with some simulated systems does not call all of them simulated
    make_ranked(task, 60, system="Kite", published_at=long_ago, **who)
    card = client.get("/").content.decode().split('class="cards"')[1].split("</ul>")[0]
    assert "partly simulated" in card
    assert "simulated: not rated by people" not in card


def test_the_front_page_asks_the_same_queries_with_many_results(
    client, task, django_assert_num_queries, monkeypatch, who
):
    # what is kept for a minute is kept here on a slow machine, too
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    make_many_ranked(task, 5, **who)
    make_many_ranked(make_task("other"), 5, **who)

    with django_assert_num_queries(16):
        client.get("/")
    Submission.own.update(published_at=timezone.now())
    for slug in ("third", "fourth"):
        make_many_ranked(make_task(slug), 300, **who)
    from genie.lib.serving.caches import computed as cache

    cache.clear()
    # two more: a long board is kept, under its version
    with django_assert_num_queries(17):
        client.get("/")
    with django_assert_num_queries(6):
        client.get("/")


@pytest.mark.parametrize("path", ["/", "/tasks/"])
def test_many_cards_are_kept_until_something_happens(client, who, monkeypatch, path):
    monkeypatch.setattr(views, "CARDS", 2)
    monkeypatch.setattr(tasks, "CARDS", 2)
    monkeypatch.setattr(version, "KEPT_FROM_ROWS", 1)
    monkeypatch.setattr(version, "LONG_FROM_ROWS", 1)
    many = [make_task(f"task-{n}", title=f"Task {n}") for n in range(3)]
    kite = make_ranked(many[0], 50, system="Kite", **who)
    waiting = make_submission(many[2], state="ANNOTATING", **who)
    item = make_evaluation(waiting).subjects.first().item
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
