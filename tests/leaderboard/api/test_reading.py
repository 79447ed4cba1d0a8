"""What programs read: tasks, instances, boards, submissions."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from crowd.models import LedgerEntry
from leaderboard.models import Submission
from leaderboard.submissions.selectors import Staff
from tests.cast import allow
from tests.factories import (
    answer,
    make_evaluation,
    make_ranked,
    make_score,
    make_submission,
    make_task,
    make_worker,
    set_state,
)

State = Submission.State


def test_tasks_are_listed_and_found_by_their_kind_and_name(api_of, task):
    make_task("arid-answers", title="Arid answers", demo=True, kind="free")

    def found(**query):
        return api_of("visitor").get("/tasks/", **query).json()["results"]

    listed = [("arid-answers", True), ("decoy-decoy", False), (task.slug, False)]
    assert [(row["slug"], row["demo"]) for row in found()] == listed
    assert found()[2]["url"].endswith("/api/v1/tasks/tidy-news/")
    assert [row["slug"] for row in found(kind="free")] == ["arid-answers"]
    assert [row["slug"] for row in found(q="TIDY")] == ["tidy-news"]
    assert found(kind="free", q="tidy") == []


def test_the_board_is_filtered_as_its_page_is_and_ranks_stay(api_of, task, cast, who):
    make_ranked(task, 90, system="Kite", **who)
    make_ranked(
        task, 10, system="Wren", team=cast.rival_team, owner=cast.rival, simulated=True
    )
    make_submission(task, state="MEASURED", system="Owl", **who)
    path = f"/tasks/{task.slug}/leaderboard/"

    def found(**query):
        rows = api_of("visitor").get(path, **query).json()["results"]
        return {row["system"]: row["rank_first"] for row in rows}

    assert found(q="wre") == {"Wren": 2}
    assert found(team=cast.rival_team.slug) == {"Wren": 2}
    assert found(kind="people", scored="1") == {"Kite": 1}
    assert found(kind="simulated") == {"Wren": 2}
    rows = api_of("visitor").get(path).json()["results"]
    assert [row["simulated"] for row in rows] == [False, True, False]
    assert found(since="2999-01-01") == {}


def test_hidden_references_are_shown_to_nobody_and_not_even_read(
    api_of, cast, django_assert_num_queries
):
    make_task("tidy-news", hidden_references=True)
    for who in ("visitor", "submitter", "superuser"):
        api = api_of(who)
        found = api.get("/tasks/tidy-news/instances/").json()
        assert [row["references"] for row in found["results"]] == [None, None, None]
        for path in ("/tasks/", "/tasks/tidy-news/", "/tasks/tidy-news/instances/"):
            assert "Reference number" not in api.get(path).text
    with django_assert_num_queries(3) as queries:
        api_of("visitor").get("/tasks/tidy-news/instances/")
    assert not any('"references"' in query["sql"] for query in queries)


def test_outsiders_read_numbers_but_not_the_teams_own_matters(api_of, task, who):
    submission = make_ranked(
        task,
        71.5,
        **who,
        approved_cents=4321,
        warnings=[
            {"code": "near-duplicate", "sentence": "Like Rook-1.", "figures": {}},
            {"code": "empty-predictions", "sentence": "Two are empty.", "figures": {}},
        ],
    )
    found = api_of("rival").get(f"/submissions/{submission.pk}/").json()
    assert found["scores"][0]["mean"] == 71.5
    assert found["file"] is None
    assert found["errors"] is None
    assert found["cost_cents"] is None
    assert {event["sentence"] for event in found["events"]} == {None}
    assert [w["code"] for w in found["warnings"]] == ["empty-predictions"]
    assert found["n_warnings"] == 1


@pytest.mark.parametrize("who", ["visitor", "team_mate"])
def test_what_people_were_paid_is_told_as_on_the_page(api_of, task, cast, who):
    owl = make_submission(
        task, team=cast.team, owner=cast.submitter, state=State.SCORED, system="Owl",
        approved_cents=500,
    )  # fmt: skip
    evaluation = make_evaluation(owl, n=2)
    for kind, cents in (("REWARD", 18), ("FEE", 4)):
        LedgerEntry.objects.create(
            idempotency_key=kind,
            campaign=evaluation.campaign,
            kind=kind,
            amount_cents=cents,
        )
    make_score(owl, 60, evaluation=evaluation)
    api, path = api_of(who), f"/submissions/{owl.pk}/"

    def money():
        found = api.get(path).json()
        return [found[f"{name}_cents"] for name in ("cost", "paid", "fee")]

    team = who == "team_mate"
    assert money() == ([500, 18, 4] if team else [None, None, None])
    set_state(Submission.own.all(), State.PUBLISHED)
    assert money() == [500 if team else None, 18, 4]
    page = Client().get(f"/submissions/{owl.pk}/").text
    assert "$0.18 to raters, $0.04 to the platform" in page
    Submission.own.update(own_state=State.WITHDRAWN)
    assert money() == ([500, 18, 4] if team else [None, None, None])


def test_staff_read_spending_only_if_they_may_see_campaigns(api_of, task, cast, who):
    owl = make_submission(task, **who, state=State.ANNOTATING)
    make_evaluation(owl, n=2)
    path = f"/submissions/{owl.pk}/"
    allow(cast.new_staff, Staff.SEE_SUBMISSIONS)
    assert api_of("new_staff").get(path).json()["paid_cents"] is None
    allow(cast.new_staff, Staff.SEE_CAMPAIGNS)
    assert api_of("new_staff").get(path).json()["paid_cents"] == 0


def test_an_anonymous_submission_names_its_team_to_the_team_only(api_of, task, who):
    tomorrow = timezone.localdate() + timedelta(days=1)
    submission = make_ranked(
        task,
        70,
        **who,
        anonymous_until=tomorrow,
        description="By the heron people.",
        links=["https://heron.example/"],
    )
    secret = api_of("rival").get(f"/submissions/{submission.pk}/")
    assert secret.json()["team"] is None
    assert "eron" not in secret.text
    assert "eron" not in api_of("rival").get("/tasks/tidy-news/leaderboard/").text
    known = api_of("submitter").get(f"/submissions/{submission.pk}/").json()
    assert known["team"]["name"] == "Team Heron"
    assert known["description"] == "By the heron people."


def test_scores_not_published_or_withdrawn_are_the_teams_secret(api_of, task, who):
    submission = make_ranked(task, 70, **who)
    path = f"/submissions/{submission.pk}/"
    set_state(Submission.own.all(), State.SCORED)
    assert api_of("visitor").get(path).json()["scores"] == []
    assert len(api_of("submitter").get(path).json()["scores"]) == 1
    Submission.own.update(own_state=State.WITHDRAWN, published_at=timezone.now())
    found = api_of("visitor").get(path).json()
    assert (found["metrics"], found["scores"]) == ({}, [])


def test_mine_are_my_teams_submissions_newest_first(api_of, task, cast, who):
    first = make_submission(task, **who)
    second = make_submission(task, **who, system="Owl")
    make_submission(task, team=cast.rival_team, owner=cast.rival, system="Crow")
    found = api_of("team_mate").get("/submissions/").json()["results"]
    assert [row["id"] for row in found] == [second.pk, first.pk]
    # filtered by task and state
    make_submission(make_task("arid-answers"), state=State.INVALID, **who)
    set_state(Submission.objects.filter(pk=first.pk), State.INVALID)
    api = api_of("submitter")
    found = api.get("/submissions/", task="tidy-news", state="INVALID").json()
    assert [row["id"] for row in found["results"]] == [first.pk]
    assert api.get("/submissions/", state="LOST").json()["code"] == "bad-choice"
    assert api.get("/submissions/", task="no\x00task").json()["code"] == "unknown-task"


def test_no_answer_names_a_worker_or_a_test_question(api_of, task, who):
    submission = make_ranked(task, 70, **who)
    worker = make_worker(name="W-AT-THE-PLATFORM")
    item = make_evaluation(make_submission(task, **who, system="Owl")).subjects.first()
    answer(item.item, worker)
    api = api_of("superuser")
    for path in (f"/submissions/{submission.pk}/", "/tasks/tidy-news/leaderboard/"):
        text = api.get(path).text
        assert worker.pseudonym not in text
        assert "W-AT-THE-PLATFORM" not in text
        assert "POSITIVE" not in text
