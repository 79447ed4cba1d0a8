"""A task's board: ranks, order, who is named, what is still waited for."""

import re
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.utils import timezone

from crowd.models import Assignment
from leaderboard.models import Submission
from tests.each import each
from tests.factories import (
    answer,
    make_evaluation,
    make_item,
    make_ranked,
    make_score,
    make_submission,
    make_task,
    make_team,
    make_worker,
)

State = Submission.State


def rows(response):
    body = response.content.decode().partition("<tbody>")[2].rpartition("</tbody>")[0]
    # rows that say what follows, such as a cluster, are none of a system
    body = re.sub(r'<tr class="section.*?</tr>|[▸▾]', "", body, flags=re.S)
    found = []
    for row in body.split("</tr>")[:-1]:
        cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, flags=re.S)
        words = (re.sub(r"<[^>]+>", " ", cell) for cell in cells)
        found.append([" ".join(word.split()) for word in words])
    return found


def names(response):
    return [row[1].split()[0] for row in rows(response)]


def test_systems_not_told_apart_share_ranks_and_a_shade(client, task, who):
    make_ranked(task, 80, system="A", **who)
    make_ranked(task, 79, system="B", **who)
    make_ranked(task, 78, system="C", **who)
    make_ranked(task, 50, system="D", **who)

    response = client.get("/tasks/tidy-news/")

    assert [row[0] for row in rows(response)] == ["1–3", "1–3", "1–3", "4"]
    assert response.text.count('class="tied"') == 3


def test_the_printed_score_is_the_one_that_is_drawn(client, task, who):
    make_ranked(task, 71.26, 2.5, system="Kite", **who)

    response = client.get("/tasks/tidy-news/")

    assert rows(response)[0][2:4] == [
        "71.3",
        "71.3 [68.8, 73.8] , 800 items, 31 raters",
    ]
    assert 'aria-label="71.3, 95% interval 68.8 to 73.8"' in response.content.decode()


def test_a_score_that_is_not_published_yet_is_not_shown(client, task, who):
    kite = make_submission(task, state=State.SCORED, **who)
    make_score(kite, 77.7)

    response = client.get("/tasks/tidy-news/")

    assert rows(response)[0][0] == "waiting"
    assert "77.7" not in response.content.decode()


@pytest.mark.every_engine
def test_a_sorted_column_says_so_and_its_link_turns_it_round(client, task, who):
    make_ranked(task, 80, **who)

    html = client.get(
        "/tasks/tidy-news/?sort=sacrebleu&dir=asc&show=metrics"
    ).content.decode()

    header = re.search(r'<th[^>]*aria-sort="ascending"[^>]*>.*?</th>', html, re.S)
    assert "SacreBLEU" in header[0]
    assert "?sort=sacrebleu&amp;dir=desc&amp;show=metrics" in header[0]
    assert html.count("aria-sort=") == 1


def test_all_metrics_are_shown_when_they_are_asked_for(client, task, who):
    make_ranked(task, 80, **who)

    few = client.get("/tasks/tidy-news/").content.decode()
    every = client.get("/tasks/tidy-news/?columns=all").content.decode()

    assert 'data-l="chrF"' not in few
    assert 'data-l="chrF"' in every
    assert "sort=sacrebleu&amp;dir=desc&amp;columns=all" in every


def test_a_waiting_row_counts_the_instances_that_people_judged(client, who):
    task = make_task(n_instances=6)
    kite = make_submission(task, state=State.ANNOTATING, **who)
    evaluation = make_evaluation(kite, n=5)
    items = [judged.item for judged in evaluation.subjects.all()]
    wim = make_worker()
    answer(items[0], wim)
    answer(items[1], wim, state=Assignment.State.APPROVED)
    # what does not count: rejected, replaced and returned work, test questions
    answer(items[2], wim, state=Assignment.State.REJECTED)
    answer(items[3], wim, replaced_at=timezone.now())
    answer(items[4], wim, state=Assignment.State.RETURNED)
    answer(make_item(evaluation.campaign, "a test question"), wim)
    # the same instance judged twice is one instance
    answer(items[0], make_worker())

    assert rows(client.get("/tasks/tidy-news/"))[0][2] == "2 of 5"


@each(
    "state",
    [State.RECEIVED, State.VALID, State.INVALID, State.DECLINED, State.WITHDRAWN],
)
def test_what_has_no_numbers_or_was_taken_off_is_on_no_board(client, task, who, state):
    make_submission(task, system="Nowhere", state=state, **who)

    assert "Nowhere" not in client.get("/tasks/tidy-news/").content.decode()


def test_simulated_results_are_marked_everywhere_they_stand(client, who, read):
    task = make_task(n_instances=6, sample_size=2)
    make_ranked(task, 80, system="Robot", simulated=True, **who)
    make_submission(task, system="Simulates", simulated=True, **who)

    response = client.get("/tasks/tidy-news/")
    html = response.content.decode()

    assert "simulated: not rated by people" in read(response)
    assert rows(response)[0][1] == "Robot"
    assert rows(response)[1][2] == "0 of 2"
    assert '; simulated, not rated by people" class="sim"' in html

    # a submission that waits for people: none were asked
    make_submission(task, system="Waits", **who)
    response = client.get("/tasks/tidy-news/")
    assert rows(response)[1][2] == "0 of 2"
    # among rows of people its mark alone is hollow
    make_ranked(task, 50, system="Kite", **who)
    response = client.get("/tasks/tidy-news/")
    assert response.text.count('class="sim"') == 1
    assert "partly simulated" in response.content.decode().split("</thead>")[0]


def test_a_board_says_that_there_is_no_score_yet(client, task, who, read):
    kite = make_submission(task, state=State.ANNOTATING, **who)
    evaluation = make_evaluation(kite, n=2)

    words = read(client.get("/tasks/tidy-news/"))

    assert "No system has a score yet." in words
    answer(evaluation.subjects.first().item, make_worker())
    assert "No system has a score yet." in read(client.get("/tasks/tidy-news/"))
    make_ranked(task, 50, system="Wren", **who)
    assert "Wren is the only ranked system." in read(client.get("/tasks/tidy-news/"))


def test_an_anonymous_team_is_named_to_itself_only(client_of, task, who):
    today = timezone.localdate()
    kite = make_ranked(task, 80, **who, anonymous_until=today + timedelta(days=3))
    for name in ("visitor", "rival", "worker"):
        html = client_of(name).get("/tasks/tidy-news/").content.decode()
        assert "Team Heron" not in html
        assert "anonymous until" in html
    own = client_of("team_mate").get("/tasks/tidy-news/").content.decode()
    assert "Team Heron" in own
    assert "publicly anonymous until" in own
    kite.anonymous_until = today
    kite.save()
    caches["computed"].clear()
    # a name that all rows share is not repeated in each of them
    assert rows(client_of("rival").get("/tasks/tidy-news/"))[0][1] == "Kite"
    make_ranked(task, 70, team=make_team("Team Egret"), owner=who["owner"])
    caches["computed"].clear()
    assert rows(client_of("rival").get("/tasks/tidy-news/"))[0][1] == "Kite Team Heron"


def test_a_private_result_is_its_teams_and_moves_no_rank(client_of, task, cast):
    both = {"team": cast.team, "owner": cast.submitter}
    make_ranked(task, 80, system="Open", **both)
    make_ranked(task, 40, system="Last", **both)
    make_ranked(task, 60, system="Secret", visibility="PRIVATE", **both)

    for name in ("visitor", "rival", "worker"):
        response = client_of(name).get("/tasks/tidy-news/")
        assert [row[:2] for row in rows(response)] == [
            ["1", "Open (best of 3)"],
            ["2", "Last"],
        ]
    own = rows(client_of("team_mate").get("/tasks/tidy-news/"))
    expected = [["1", "Open (best of 3)"], ["(2)", "Secret private"], ["2", "Last"]]
    assert [row[:2] for row in own] == expected


def test_every_criterion_has_a_column_and_the_first_one_ranks(client, who):
    criteria = {"fluency": "Is it fluent?", "truth": "Is it true?"}
    task = make_task()
    task.config["human"]["criteria"] = criteria
    task.save()
    for name, fluency, truth in [("A", 50, 90), ("B", 80, 20)]:
        submission = make_submission(task, system=name, state=State.PUBLISHED, **who)
        make_score(submission, fluency, criterion="fluency")
        make_score(submission, truth, criterion="truth")

    (b, a) = rows(client.get("/tasks/tidy-news/?show=metrics"))
    assert (b[1], b[4]) == ("B (best of 2)", "20.0 [18.0, 22.0]")
    assert (a[1], a[4]) == ("A", "90.0 [88.0, 92.0]")


def test_an_empty_board_says_what_to_do(client, task, read):
    response = client.get("/tasks/tidy-news/")

    assert response.status_code == 200
    assert "No systems yet." in read(response)
    assert "/tasks/tidy-news/submit/" in response.content.decode()


def test_a_board_whose_scores_are_all_equal_is_drawn(client, task, who):
    make_ranked(task, 100, 0, system="A", **who)
    make_ranked(task, 100, 0, system="B", **who)

    assert [row[0] for row in rows(client.get("/tasks/tidy-news/"))] == ["1–2", "1–2"]


def test_an_unknown_task_is_not_found(client, db):
    assert client.get("/tasks/no-such-task/").status_code == 404
