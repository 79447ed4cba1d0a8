"""Results row by row: scores over time, metrics, judgments under pseudonyms."""

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Score, Submission
from tests.each import each
from tests.factories import (
    answer,
    make_evaluation,
    make_item,
    make_ranked,
    make_score,
    make_submission,
    make_worker,
)

State = Submission.State
PRIVATE = {"visibility": Submission.Visibility.PRIVATE}


@pytest.fixture
def kite(task, who):
    return make_ranked(task, 70, **who)


def means(api, **query):
    found = api.get("/tasks/tidy-news/scores/", **query).json()["results"]
    return [row["mean"] for row in found]


def test_a_score_of_the_past_can_be_read_again(api_of, kite):
    first = kite.scores.get()
    week = timezone.now() - timedelta(days=7)
    Score.objects.filter(pk=first.pk).update(
        created_at=week - timedelta(days=7), superseded_at=week
    )
    second = make_score(kite, 60)
    Score.objects.filter(pk=second.pk).update(created_at=week)
    Submission.own.update(published_at=week - timedelta(days=6))
    api = api_of("visitor")
    before = (week - timedelta(days=1)).isoformat()
    assert means(api) == [60]
    assert means(api, at=before) == [70]
    assert means(api, at="2001-01-01") == []
    assert means(api, superseded="yes") == [70, 60]
    then = api.get("/tasks/tidy-news/leaderboard/", at=before).json()["results"]
    assert [row["human"]["mean"] for row in then] == [70]


@each("at", ["soon", "2999-01-01", "20261301T000000Z", "\x00"])
def test_a_moment_that_is_none_is_refused(api_of, kite, at):
    for path in ("/tasks/tidy-news/scores/", "/tasks/tidy-news/leaderboard/"):
        refused = api_of("visitor").get(path, at=at)
        assert (refused.status_code, refused.json()["code"]) == (400, "bad-moment")


@each(
    ("fields", "who", "seen"),
    [
        (PRIVATE, "visitor", 0),
        (PRIVATE, "rival", 0),
        (PRIVATE, "team_mate", 1),
        (PRIVATE, "staff", 1),
        ({}, "visitor", 1),
    ],
)
def test_private_results_are_the_teams(api_of, task, cast, fields, who, seen):
    private = make_ranked(task, 70, team=cast.team, owner=cast.submitter, **fields)
    api = api_of(who)
    assert len(means(api)) == seen
    metrics = api.get("/tasks/tidy-news/metric-results/", metric="chrf").json()
    assert metrics["count"] == seen
    for end in ("metric-results/", "judgments/"):
        status = api.get(f"/submissions/{private.pk}/{end}").status_code
        assert status == (200 if seen else 404)


def test_scores_before_publication_are_the_teams(api_of, task, who):
    scored = make_submission(task, **who, state=State.SCORED)
    make_score(scored, 70)
    assert means(api_of("rival")) == []
    assert means(api_of("submitter")) == [70]
    refused = api_of("submitter").get(f"/submissions/{scored.pk}/judgments/")
    assert refused.json()["code"] == "not-published"


def test_rows_are_filtered(api_of, task, kite, who):
    owl = make_ranked(task, 50, **who, system="Owl")
    api = api_of("visitor")
    assert means(api, submission=owl.pk) == [50]
    assert means(api, criterion="overall") == [70, 50]
    # what a design adds to the task's criteria, such as marked errors
    make_score(owl, 40, criterion="spans")
    assert means(api, criterion="spans") == [40]
    for wrong in ("x", "-1", "9" * 40):
        refused = api.get("/tasks/tidy-news/scores/", submission=wrong)
        assert refused.json()["code"] == "invalid"
    found = api.get("/tasks/tidy-news/metric-results/", submission=owl.pk).json()
    assert {row["metric"] for row in found["results"]} == {
        "sacrebleu",
        "chrf",
        "rougeL",
    }


def test_a_withdrawn_result_shows_no_numbers(api_of, kite):
    Submission.own.update(own_state=State.WITHDRAWN)
    api = api_of("visitor")
    assert api.get(f"/submissions/{kite.pk}/metric-results/").json()["count"] == 0
    refused = api.get(f"/submissions/{kite.pk}/judgments/")
    assert refused.json()["code"] == "not-published"


def test_judgments_name_nobody_and_hide_test_questions(api_of, task, who):
    kite = make_submission(task, **who, state=State.PUBLISHED)
    evaluation = make_evaluation(kite, n=2)
    first, second = make_worker(name="W-FIRST"), make_worker(name="W-SECOND")
    items = [judged.item for judged in evaluation.subjects.order_by("pk")]
    answer(items[0], first, 0.75)
    answer(items[1], first, 0.5)
    answer(items[1], second, 0.25, state="REJECTED")
    answer(make_item(evaluation.campaign, "test-question"), second, 1.0)
    page = api_of("visitor").get(f"/submissions/{kite.pk}/judgments/")
    rows = page.json()["results"]
    assert [(row["instance"], row["value"], row["counts"]) for row in rows] == [
        ("i0", 0.75, True),
        ("i1", 0.5, True),
        ("i1", 0.25, False),
    ]
    names = [row["worker"] for row in rows]
    assert names[0] == names[1] != names[2]
    assert "test-question" not in page.text
    for worker in (first, second):
        assert worker.pseudonym not in page.text
        assert worker.platform_worker_id not in page.text
    again = api_of("superuser").get(f"/submissions/{kite.pk}/judgments/")
    assert [row["worker"] for row in again.json()["results"]] == names


def test_what_has_not_changed_is_not_sent_again(api_of, kite):
    api = api_of("visitor")
    first = api.get("/tasks/tidy-news/leaderboard/")
    api.headers["If-None-Match"] = first["ETag"]
    again = api.client.get("/api/v1/tasks/tidy-news/leaderboard/", headers=api.headers)
    assert (again.status_code, again.content) == (304, b"")
    kite.scores.update(mean=71)
    assert api.get("/tasks/tidy-news/leaderboard/").status_code == 200
