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
    make_metrics,
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


def test_a_task_says_how_it_is_measured_and_how_people_are_asked(api_of, task):
    answer = api_of("visitor").get("/tasks/tidy-news/")
    assert "positive_share" not in answer.text
    found = answer.json()
    slugs = [metric["slug"] for metric in found["metrics"]]
    assert slugs == ["sacrebleu", "chrf", "rougeL", "length"]
    assert found["human"]["scale"] == "likert-5"
    assert found["human"]["n_instances"] == 3  # the sample is no larger than the task
    assert found["human"]["reward_cents"] == 9


@pytest.mark.every_engine
def test_instances_come_in_the_order_of_the_release_with_references(api_of, task):
    answer = api_of("visitor").get("/tasks/tidy-news/instances/")
    found = answer.json()
    assert [row["id"] for row in found["results"]] == ["i0", "i1", "i2"]
    assert found["results"][1]["fields"] == {"source": "Source number 1."}
    assert found["results"][1]["references"] == ["Reference number 1."]
    assert "rank" not in answer.text  # nor which of them people judge


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


def test_the_board_ranks_by_what_people_said(api_of, task, cast):
    who = {"team": cast.team, "owner": cast.submitter}
    make_ranked(task, 60, system="Worse", **who)
    make_ranked(task, 80, system="Better", **who)
    waiting = make_submission(task, system="Waiting", state=State.ANNOTATING, **who)
    make_metrics(waiting, sacrebleu=31.2)
    judged = make_evaluation(waiting).subjects.first()
    answer(judged.item, make_worker())
    rows = api_of("visitor").get("/tasks/tidy-news/leaderboard/").json()["results"]
    assert [row["system"] for row in rows] == ["Better", "Worse", "Waiting"]
    assert [(row["rank_first"], row["rank_last"]) for row in rows] == [
        (1, 1),
        (2, 2),
        (None, None),
    ]
    assert rows[0]["human"]["mean"] == 80
    assert (rows[0]["human"]["low"], rows[0]["human"]["high"]) == (78, 82)
    assert (rows[0]["human"]["n"], rows[0]["human"]["n_workers"]) == (800, 31)
    assert rows[0]["human"]["signature"].startswith("human:")
    assert rows[2]["human"] is None
    assert rows[2]["pending"] == {"n": 1, "of": 3}
    assert rows[2]["metrics"] == {"sacrebleu": 31.2}


@pytest.mark.every_engine
def test_the_board_can_be_sorted_by_a_metric(api_of, task, cast):
    who = {"team": cast.team, "owner": cast.submitter}
    for system, value in (("A", 3.0), ("B", 9.0), ("C", 5.0)):
        make_metrics(make_submission(task, system=system, **who), sacrebleu=value)
    api = api_of("visitor")

    def order(**query):
        found = api.get("/tasks/tidy-news/leaderboard/", **query).json()
        return [row["system"] for row in found["results"]]

    assert order(sort="sacrebleu") == ["B", "C", "A"]
    assert order(sort="sacrebleu", dir="asc") == ["A", "C", "B"]


def test_a_submission_tells_its_whole_story_to_its_team(api_of, task, who):
    submission = make_ranked(task, 71.5, **who)
    found = api_of("team_mate").get(f"/submissions/{submission.pk}/").json()
    assert found["state"] == "PUBLISHED"
    assert [event["state"] for event in found["events"]] == Submission.WALK
    assert all(event["sentence"] for event in found["events"])
    assert found["file"]["name"] == "kite.json"
    assert found["scores"][0]["mean"] == 71.5
    assert found["scores"][0]["histogram"]["0.75"] == 300
    assert found["metrics"]["sacrebleu"]["signature"] == "sacrebleu|version:1"
    assert found["failure"] is None


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
    assert "$0.18 to workers, $0.04 to the platform" in page
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


def test_the_newest_result_of_a_metric_counts(api_of, task, who):
    submission = make_submission(task, **who)
    make_metrics(submission, sacrebleu=10.0)
    submission.metric_results.update(signature="old")
    make_metrics(submission, sacrebleu=12.0)
    found = api_of("visitor").get(f"/submissions/{submission.pk}/").json()
    assert found["metrics"]["sacrebleu"]["value"] == 12.0


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
