"""Metric boards and the scores of others' metrics for programs."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from genie.lib import jobs
from leaderboard.models import MetricBoard, OutsideMetric, Submission
from tests.leaderboard.metric_board.test_metrics_of_others import csv_of

BOARD = "/api/v1/tasks/tidy-news/metric-board/"
SCORES = "/api/v1/metric-scores/"


def hand_in(client, content=None, **fields):
    data = {
        "task": "tidy-news",
        "name": "MyScore",
        "file": SimpleUploadedFile("s.csv", csv_of() if content is None else content),
        **fields,
    }
    return client.post(SCORES, data)


def test_a_board_without_numbers_says_so(client, world):
    body = client.get(BOARD).json()
    assert (body["state"], body["metrics"], body["systems"]) == ("", [], [])
    assert client.get("/api/v1/tasks/none/metric-board/").status_code == 404


@pytest.mark.every_engine
def test_scores_are_handed_in_published_and_withdrawn(world, cast, client_of, board):
    rita, nina, visitor = (client_of(w) for w in ("rival", "submitter", "visitor"))
    answer = hand_in(rita, description="Ours.", higher_is_better=False)
    assert answer.status_code == 201
    body = answer.json()
    assert (body["owner"], body["published_at"]) == ("rita", None)
    assert len(body["systems"]) == 6
    own = f"{SCORES}{body['id']}/"
    for client in (nina, visitor):
        assert client.get(own).status_code == 404
        assert client.get(SCORES).json()["count"] == 0
        assert client.post(own + "publish/").status_code in {401, 404}
        assert client.delete(own).status_code in {401, 404}
    assert rita.get(SCORES).json()["count"] == 1
    assert rita.post(own + "publish/").json()["published_at"]
    assert visitor.get(own).status_code == 200
    jobs.drain()
    label = MetricBoard.objects.first().payload["labels"][f"outside.{body['id']}"]
    assert not label["higher_is_better"]
    Submission.objects.filter(system_name="Heron").update(visibility="PRIVATE")
    assert len(visitor.get(own).json()["systems"]) == 5
    assert nina.delete(own).status_code == 404
    assert rita.delete(own).status_code == 204
    assert visitor.get(own).status_code == 404
    assert OutsideMetric.objects.get().withdrawn_at


@pytest.mark.parametrize(
    ("content", "fields", "status", "code"),
    [
        (b"system,instance,value\nHeron,i0,much\n", {}, 400, "bad-scores"),
        (b"", {}, 400, "bad-scores"),
        (None, {"name": ""}, 400, "invalid"),
        (None, {"name": "\n"}, 400, "bad-name"),
        (None, {"task": "none"}, 404, "unknown-task"),
    ],
)
def test_refusals_are_problems(world, client_of, content, fields, status, code):
    answer = hand_in(client_of("rival"), content, **fields)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    if content:
        assert "line 2 (much)" in answer.json()["detail"]
        problem = answer.json()["details"]["problems"][0]
        assert problem["examples"] == [{"line": 2, "what": "much"}]


def test_strangers_hand_nothing_in(world, client_of):
    assert hand_in(client_of("visitor")).status_code == 401
    assert hand_in(client_of("rival")).status_code == 201
    again = hand_in(client_of("rival"))
    assert (again.status_code, again.json()["code"]) == (409, "name-taken")


@pytest.mark.parametrize("asked", ["by=luck", "criterion=luck"])
def test_a_choice_that_is_none_is_refused_with_the_choices(client, world, asked):
    answer = client.get(f"{BOARD}?{asked}")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-choice")
    assert "luck" in answer.json()["detail"]
