"""Filters, columns, moments of the past, and what is kept of a long board."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from genie.lib.serving.caches import computed as cache
from leaderboard.boards.selectors import certainty, version
from leaderboard.boards.selectors import rows as standings
from leaderboard.models import MetricResult, Score, Subject, Submission
from tests.factories import (
    answer,
    make_evaluation,
    make_item,
    make_many_ranked,
    make_metrics,
    make_ranked,
    make_score,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
    signed_in,
    tell,
)
from tests.leaderboard.site.test_boards import names, rows

BOARD = "/tasks/tidy-news/"
API = "/api/v1/tasks/tidy-news/leaderboard/"
JANUARY = datetime(2026, 1, 10, 12, tzinfo=UTC)
LONG = 12


@pytest.fixture
def _soon_long(monkeypatch):
    for module in (version, standings):
        monkeypatch.setattr(module, "KEPT_FROM_ROWS", LONG)
    monkeypatch.setattr(version, "LONG_FROM_ROWS", LONG)


@pytest.fixture
def three(task, who, rival, rival_team):
    """Two systems of one team and one of another, a month apart."""
    found = [
        make_ranked(task, 80, system="Kite", **who),
        make_ranked(task, 70, system="Wren", simulated=True, **who),
        make_ranked(task, 60, system="Rook", team=rival_team, owner=rival),
    ]
    for month, submission in enumerate(found):
        at = JANUARY + timedelta(days=30 * month)
        Submission.objects.filter(pk=submission.pk).update(
            created_at=at, published_at=at
        )
        Score.objects.filter(submission=submission).update(created_at=at)
        MetricResult.objects.filter(submission=submission).update(computed_at=at)
    make_submission(task, system="Egret", **who)
    return found


@pytest.mark.every_engine
def test_only_the_rows_that_were_asked_for_are_shown(client, three, read):
    everything = ["Kite", "Wren", "Rook", "Egret"]
    for query, expected in (
        ("?q=ITE", ["Kite"]),
        ("?q=%00", everything),
        ("?kind=simulated", ["Wren"]),
        ("?kind=people&scored=1", ["Kite", "Rook"]),
        ("?scored=1", ["Kite", "Wren", "Rook"]),
        ("?kind=robots&since=yesterday", everything),
        ("?since=2026-02-01&until=2026-02-28", ["Wren"]),
        ("?since=2026-02-09&until=2026-02-09", ["Wren"]),
    ):
        assert names(client.get(f"{BOARD}{query}")) == expected, query
    none = client.get(f"{BOARD}?q=%25").content.decode()
    assert "No systems match your filters." in none
    # a filter changes no rank
    response = client.get(f"{BOARD}?q=rook")
    assert rows(response)[0][0] == "3"
    assert "1 of 4 systems match your filters" in read(response)


@pytest.mark.every_engine
def test_a_team_is_found_by_its_name_unless_it_is_anonymous(client, task):
    heron = make_team("Heron")
    owner = {"team": heron, "owner": make_user("ida")}
    make_ranked(task, 80, system="Seen", **owner)
    hidden = timezone.localdate() + timedelta(days=2)
    make_ranked(task, 70, system="Hidden", anonymous_until=hidden, **owner)

    for query in ("?q=heron", f"?team={heron.slug}"):
        assert names(client.get(BOARD + query)) == ["Seen"]
    heron.members.add(owner["owner"])
    client.force_login(owner["owner"])
    assert names(client.get(f"{BOARD}?team={heron.slug}")) == ["Seen", "Hidden"]


def test_columns_are_chosen_and_stay_in_every_link(client, three):
    html = client.get(f"{BOARD}?columns=chrf&q=k").content.decode()

    assert 'data-l="chrF"' in html
    assert 'data-l="SacreBLEU"' not in html
    assert "sort=system&amp;dir=asc&amp;columns=chrf&amp;q=k" in html
    assert 'class="me"' not in client.get(BOARD).text
    assert 'data-l="SacreBLEU"' in client.get(f"{BOARD}?show=metrics").text


@pytest.mark.every_engine
def test_a_board_of_the_past_shows_what_was_known_then(client, task, three):
    kite = three[0]
    # Kite was scored again later, and Wren taken back later still
    changed = JANUARY + timedelta(days=40)
    Score.objects.filter(submission=kite).update(superseded_at=changed)
    make_score(kite, 20)
    Score.objects.filter(submission=kite, mean=20).update(created_at=changed)
    MetricResult.objects.filter(submission=kite, metric="chrf").delete()
    make_metrics(kite, chrf=99)

    then = client.get(f"{BOARD}at/20260301T000000Z/?columns=all")
    before = client.get(f"{BOARD}at/20260215T000000Z/")

    for page, expected in (
        (before, [("Kite", "80.0"), ("Wren", "70.0")]),
        (then, [("Wren", "70.0"), ("Kite", "20.0")]),
    ):
        assert [(row[1].split()[0], row[4][:4]) for row in rows(page)] == expected
    assert "99.0" not in then.content.decode()
    assert "<strong>As of " in then.content.decode()

    Submission.objects.filter(pk=three[1].pk).update(own_state="WITHDRAWN")
    assert names(client.get(f"{BOARD}at/20260215T000000Z/")) == ["Kite"]


def test_a_day_leads_to_its_end_and_the_future_to_nothing(client, three):
    response = client.get(f"{BOARD}?at=2026-02-15")
    assert response.status_code == 302
    assert response["Location"] == f"{BOARD}at/20260215T235959Z/"

    for bad in ("2999-01-01", "soon", "20260230T000000Z", "9" * 400):
        assert client.get(f"{BOARD}?at={bad}").status_code == 404
    for bad in ("2026-02-15", "20990101T000000Z", "x"):
        assert client.get(f"{BOARD}at/{bad}/").status_code == 404


@pytest.mark.every_engine
@pytest.mark.usefixtures("_soon_long")
@pytest.mark.parametrize("board", [BOARD, API])
def test_a_long_board_is_kept_until_something_happens(client, task, who, board):
    make_many_ranked(task, LONG, **who)
    first = client.get(board).content
    # by hand, without a trace: shown after a minute
    Submission.objects.filter(system_name__startswith="System").update(system_name="Zz")
    assert client.get(board).content == first
    assert client.get(f"{board}?sort=system").content != first
    assert "Zz" in client.get(f"{board}?page=1").text

    make_ranked(task, 99, system="Newcomer", **who)
    assert "Newcomer" in client.get(board).text


@pytest.mark.usefixtures("_soon_long")
@pytest.mark.parametrize("board", [BOARD, API, f"{BOARD}board.csv"])
def test_a_board_that_is_not_long_is_kept_until_it_is_edited(
    client, task, who, board, monkeypatch, superuser
):
    monkeypatch.setattr(version, "LONG_FROM_ROWS", 2 * LONG)
    make_many_ranked(task, LONG, **who)
    client.get(board)
    one = Submission.objects.filter(system_name="System 7").get()
    Score.objects.filter(submission=one).update(mean=77.125)
    assert "77.1" not in client.get(board).text
    # scores are edited in the admin only, which keeps a log
    LogEntry.objects.create(user=superuser, action_flag=2, object_repr="a score")
    assert "77.1" in client.get(board).text
    Submission.objects.filter(pk=one.pk).update(system_name="Renamed")
    assert "Renamed" in client.get(board).text


@pytest.mark.usefixtures("_soon_long")
@pytest.mark.parametrize("board", [BOARD, API])
def test_what_is_kept_for_a_team_is_shown_to_nobody_else(
    client, client_of, task, who, board
):
    make_many_ranked(task, LONG, **who)
    make_ranked(task, 99, system="Secret", visibility="PRIVATE", **who)

    assert "Secret" in client_of("submitter").get(board).text
    assert "Secret" not in client.get(board).text
    assert "Secret" not in client_of("rival").get(board).text
    cache.clear()
    assert "Secret" not in client.get(board).text
    assert "Secret" in client_of("submitter").get(board).text


def test_what_is_kept_of_the_api_leads_on_to_the_address_that_was_asked(
    client, task, who, settings
):
    settings.ALLOWED_HOSTS = ["testserver", "genie.example"]
    make_many_ranked(task, 120, **who)
    client.get(API)
    asked = client.get(API, headers={"host": "genie.example"})
    assert asked.json()["next"] == f"http://genie.example{API}?page=2"
    assert asked.json()["results"][0]["url"].startswith("http://genie.example/")
    assert asked["Content-Type"] == "application/json"
    indented = client.get(API, headers={"accept": "application/json; indent=4"})
    assert "\n    " in indented.text


@pytest.fixture
def kept_board(task, who, _soon_long):
    """A board that is long enough to be kept, with a row that people are judging."""
    make_many_ranked(task, LONG, **who)
    waiting = make_submission(task, system="Egret", state="ANNOTATING", **who)
    make_evaluation(waiting)
    return waiting


def is_kept(client, happens, board=BOARD):
    """Tell whether the same kept page is shown after something happens elsewhere.

    A change by hand leaves no trace: it shows only where the page is made anew.
    """
    client.get(board)
    happens()
    Submission.objects.filter(system_name="System 7").update(system_name="Made anew")
    return "Made anew" not in client.get(board).text


def test_evidence_is_computed_once_for_all_readers(
    client, client_of, kept_board, superuser, monkeypatch
):
    made = []
    monkeypatch.setattr(certainty, "_evidence_of", lambda task: made.append(task) or [])
    for reader in (client, client_of("submitter"), signed_in(superuser)):
        assert reader.get("/api/v1/tasks/tidy-news/evidence/").json()["criteria"] == []
    assert len(made) == 1


def other_submission(**fields):
    other = make_task("other-news")
    owner = make_user("zoe")
    return make_submission(other, team=make_team("Auk", owner), owner=owner, **fields)


def test_what_happens_in_another_task_leaves_a_board_as_it_is(client, kept_board):
    other = other_submission(state="SCORED")
    item = make_evaluation(other).subjects.first().item
    same = {"team": other.team, "owner": other.owner}

    def happens():
        answer(item, make_worker())
        make_submission(other.task, **same)
        make_score(other, 50)
        make_metrics(other, sacrebleu=3)
        tell(other, "PUBLISHED", "It is public.")

    assert is_kept(client, happens)


def test_answers_that_a_board_does_not_show_leave_it_as_it_is(client, task, kept_board):
    campaign = kept_board.human_evaluation.campaign
    test_question = make_item(campaign, "test-question")
    assert is_kept(client, lambda: answer(test_question, make_worker()))
    ranked = Submission.objects.filter(system_name="System 9").get()
    again = make_item(ranked.human_evaluation.campaign, "again")
    Subject.objects.create(
        evaluation=ranked.human_evaluation, item=again, instance=task.instances.first()
    )
    Submission.objects.filter(system_name="Made anew").update(system_name="System 7")
    cache.clear()
    assert is_kept(client, lambda: answer(again, make_worker()))


def test_progress_of_a_private_submission_changes_its_teams_board_only(
    client, client_of, kept_board
):
    Submission.objects.filter(pk=kept_board.pk).update(visibility="PRIVATE")
    item = kept_board.human_evaluation.subjects.first().item
    team = client_of("submitter")
    assert "0 of 3" in team.get(BOARD).text
    assert is_kept(client, lambda: answer(item, make_worker()))
    assert "1 of 3" in team.get(BOARD).text
