"""A submission's page: its story, its numbers, its outputs."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.models import Campaign
from leaderboard.boards.selectors import submission_progress
from leaderboard.boards.selectors.rows import Pending
from leaderboard.models import Submission
from tests.each import each
from tests.factories import (
    answer,
    make_evaluation,
    make_metrics,
    make_predictions,
    make_ranked,
    make_score,
    make_submission,
    make_task,
    make_worker,
    set_state,
    tell,
)

State = Submission.State


def walk(response):
    html = response.content.decode()
    return re.findall(r'<li class="(\w+)"[^>]*>\s*<span class="label">([^<]+)', html)


def pause(page):
    found = re.search(r'data-every="(\d+)"', page.content.decode())
    return int(found[1]) if found else None


def test_a_page_that_has_long_been_waiting_looks_less_often(client_of, task, who):
    kite = make_submission(task, **who, state="RECEIVED")
    Submission.own.update(created_at=timezone.now() - timedelta(minutes=11))
    assert pause(client_of("submitter").get(f"/submissions/{kite.pk}/")) == 60
    Submission.own.update(failure="The disk is full.", failure_permanent=True)
    assert pause(client_of("submitter").get(f"/submissions/{kite.pk}/")) is None


def test_progress_is_given_alone_and_only_when_it_is_new(client_of, task, who):
    kite = make_submission(task, **who, state="RECEIVED")
    path, nina = f"/submissions/{kite.pk}/?live=1", client_of("submitter")
    first = nina.get(path)
    assert "Waits for the site to check the file" in first.text
    assert "Next: automatic metrics, usually within minutes." in first.text
    assert 'href="/account/notices/"' in first.text
    assert "<html" not in first.text
    known = {"If-None-Match": first["ETag"]}
    assert nina.get(path, headers=known).status_code == 304
    set_state(Submission.own.all(), State.MEASURED)
    tell(kite, State.MEASURED, "Measured.")
    later = nina.get(path, headers=known).text
    assert "Waits for staff" in later
    assert "Next: workers rate the outputs." in later
    assert 'href="/account/notices/"' not in client_of("rival").get(path).text
    Submission.own.update(visibility="PRIVATE")
    assert client_of("rival").get(path, headers=known).status_code == 404


def test_it_says_for_whom_it_waits_and_how_long_usually(client_of, cast, task, read):
    both = {"team": cast.team, "owner": cast.submitter}
    kite = make_submission(task, state=State.MEASURED, **both)
    kite.events.all().delete()
    tell(kite, State.MEASURED, "Measured.", at=timezone.now() - timedelta(days=3))
    path = f"/submissions/{kite.pk}/"

    def said():
        return read(client_of("submitter").get(path)).replace("\xa0", " ")

    waits = "Waits for staff to approve its cost, for 3 days so far. "
    assert re.search(
        waits + r"Number \d of \d+ in the queue for approval. Next:", said()
    )
    for n in range(5):  # four are too few to be called usual
        assert "usually" not in said().split("Waits for staff")[1].split("Next:")[0]
        other = make_submission(task, system=f"S{n}", **both)
        other.events.all().delete()
        at = timezone.now() - timedelta(days=20)
        tell(other, State.MEASURED, "Measured.", at=at)
        tell(other, State.APPROVED, "Approved.", at=at + timedelta(hours=n + 1))
        assert "Score expected" not in said()
        tell(other, State.PUBLISHED, "Published.", at=at + timedelta(days=n + 3))
    assert "for 3 days so far; usually 3 hours (median of the last 5)." in said()
    # from approval to publication: five days in the middle, of which three are over
    day = timezone.now() + timedelta(days=2)
    assert f" in the queue for approval. Score expected on {day:%A, %Y-%m-%d}" in said()


def test_a_score_is_expected_at_the_pace_so_far(task, who):
    kite, now = make_submission(task, **who, state=State.ANNOTATING), timezone.now()
    kite.events.all().delete()
    tell(kite, State.ANNOTATING, "Posted.", at=now - timedelta(days=2))
    evaluation, events = make_evaluation(kite, n=0), list(kite.events.all())

    def expected(n):
        return submission_progress._expected_day(kite, events, Pending(n=n, of=40))

    assert expected(0) == ""
    assert expected(10) == f"Score expected on {now + timedelta(days=6):%A, %Y-%m-%d}."
    assert not submission_progress._is_held(kite, evaluation)
    Campaign.own.update(state="PAUSED")
    evaluation.refresh_from_db()
    assert submission_progress._is_held(kite, evaluation)


@each(
    ("state", "place", "label"),
    [
        (State.INVALID, 1, "Invalid"),
        (State.DECLINED, 3, "Declined"),
        (State.WITHDRAWN, 1, "Withdrawn"),
    ],
)
def test_the_line_shows_where_a_walk_ended(client_of, task, state, place, label, who):
    kite = make_submission(task, **who, state=state)

    dots = walk(client_of("submitter").get(f"/submissions/{kite.pk}/"))

    assert dots[place] == ("failed", label)
    assert [status for status, _ in dots[:place]] == ["done"] * place
    assert {status for status, _ in dots[place + 1 :]} == {"waiting"}


def test_each_step_has_its_time(client, task, who):
    kite = make_submission(task, **who)
    at = timezone.now().replace(2025, 3, 9, 14, 7)
    tell(kite, State.MEASURED, "Measured again.", at=at)

    assert "2025-03-09 14:07" in client.get(f"/submissions/{kite.pk}/").content.decode()


@pytest.mark.every_engine
def test_a_failed_step_says_whether_it_is_tried_again(client_of, cast, task, read):
    both = {"team": cast.team, "owner": cast.submitter}
    broken = {"state": State.VALID, "failure": "No memory."}
    soon = make_submission(task, **broken, **both)
    never = make_submission(task, **broken, failure_permanent=True, **both)

    submitter = client_of("submitter")
    soon_page = submitter.get(f"/submissions/{soon.pk}/")

    assert walk(soon_page)[2] == ("failed", "Measured")
    assert "No memory. It will be retried automatically" in read(soon_page)
    assert "It will not be retried automatically" in read(
        submitter.get(f"/submissions/{never.pk}/")
    )


@each(
    ("state", "sentence"),
    [
        (Campaign.State.RUNNING, "1 of 3 instances rated by workers."),
        (Campaign.State.RUNNING, "Now: Waits for workers to rate the outputs, for "),
        (Campaign.State.PAUSED, "Now: Waits for staff, who paused the campaign, for "),
        (Campaign.State.SCHEDULED, "Now: Waits for HITs to be posted on "),
    ],
)
def test_what_is_awaited_while_people_judge(client, task, who, read, state, sentence):
    kite = make_submission(task, state=State.ANNOTATING, **who)
    evaluation = make_evaluation(kite, state=state)
    answer(evaluation.subjects.first().item, make_worker())

    assert sentence in read(client.get(f"/submissions/{kite.pk}/"))


def test_nothing_of_a_simulated_submission_speaks_of_people(client, task, who, read):
    kite = make_ranked(task, 70, simulated=True, **who)

    words = read(client.get(f"/submissions/{kite.pk}/"))

    assert "simulated: not rated by people" in words
    assert "rated by 31 simulated annotators" in words
    assert "HITs were posted for simulated annotators." in words
    assert "Human score" not in words
    assert "31 workers" not in words


def test_the_histogram_names_answers_that_nobody_gave(client, task, who):
    kite = make_submission(task, state=State.PUBLISHED, **who)
    make_score(kite, 70, histogram={"1": 3, "0.5": 1})

    html = client.get(f"/submissions/{kite.pk}/").content.decode()

    table = html.split('class="histogram"')[1].split("</table>")[0]
    labels = re.findall(r'<th scope="row">([^<]+)</th>', table)
    expected = ["Strongly agree", "Agree", "Neutral", "Disagree", "Strongly disagree"]
    assert labels == expected
    assert re.findall(r'<td class="right num">(\d+)</td>', table) == list("30100")
    fills = re.findall(r'<rect class="fill" width="([\d.]+)%"', table)
    assert fills == ["75", "0", "25", "0", "0"]


def test_a_score_before_publication_is_for_the_team_only(client_of, task, read, who):
    kite = make_submission(task, **who, state=State.SCORED)
    make_score(kite, 63.21)

    own = read(client_of("team_mate").get(f"/submissions/{kite.pk}/"))

    assert "Not published yet" in own
    assert "63.2" in own
    assert "63.2" not in read(client_of("rival").get(f"/submissions/{kite.pk}/"))


def test_the_newest_result_of_a_metric_is_shown(client, task, who, read):
    kite = make_submission(task, **who)
    make_metrics(kite, sacrebleu=11.1)
    kite.metric_results.update(signature="old")
    make_metrics(kite, sacrebleu=22.2)

    words = read(client.get(f"/submissions/{kite.pk}/"))

    assert "22.2" in words
    assert "11.1" not in words


def test_every_kind_of_error_is_shown_with_its_places(client_of, task, read, who):
    places = [{"id": "i7", "line": 12}, {"id": "i9", "line": None}]
    found = [
        ("missing-ids", "23 instances have no prediction.", 23, places),
        ("not-text", "One is a list.", 1, []),
    ]
    names = ("code", "message", "count", "examples")
    errors = [dict(zip(names, error, strict=True)) for error in found]
    kite = make_submission(task, **who, state=State.INVALID, errors=errors)
    words = read(client_of("submitter").get(f"/submissions/{kite.pk}/"))

    assert "23 instances have no prediction." in words
    assert "The first 2 id i7 line 12 id i9" in words
    assert "One is a list." in words
    assert "None" not in words


@each(
    ("text", "shown"),
    [
        ("word " * 300 + "the end of {0}", ["the end of i0", "Show all 1,5"]),
        ("  ", ["(empty) Source"]),
    ],
)
def test_a_long_output_is_folded_and_an_empty_one_is_called_empty(
    client, who, read, text, shown
):
    kite = make_ranked(make_task(n_instances=1), 70, **who)
    make_predictions(kite, text=text)
    page = read(client.get(f"/submissions/{kite.pk}/"))
    assert all(words in page for words in shown)


@each("name", ["visitor", "submitter", "staff", "superuser"])
def test_hidden_references_are_shown_to_nobody_and_not_even_read(
    client_of, name, django_assert_max_num_queries, who
):
    task = make_task(hidden_references=True)
    kite = make_ranked(task, 70, **who)
    make_predictions(kite)
    client = client_of(name)

    # staff's permissions are two queries more: their own and those of their groups
    with django_assert_max_num_queries(25 if name == "staff" else 23) as captured:
        page = client.get(f"/submissions/{kite.pk}/").content.decode()

    assert "Prediction for i1." in page
    assert "Reference number" not in page
    assert not any('"references"' in query["sql"] for query in captured)
    about = client.get("/tasks/tidy-news/methods/").content.decode()
    assert "hidden on all pages, in the API and in exports" in about
    assert "Reference number" not in about
