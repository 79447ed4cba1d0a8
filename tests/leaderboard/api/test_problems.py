"""Refusals: one format, stable codes, and when to come back."""

import pytest
from django.test import Client
from rest_framework.throttling import AnonRateThrottle

from leaderboard.api.base import SubmitThrottle, ValidateThrottle
from leaderboard.api.problems import KINDS
from leaderboard.boards.api import tasks
from tests.each import each


def problem_of(answer):
    assert answer["Content-Type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == answer.status_code
    assert found["code"] in KINDS
    assert found["title"] == KINDS[found["code"]].title
    assert found["type"] == f"/api/docs/#{found['code']}"
    assert found["detail"].endswith(".")
    return found


@each(
    ("method", "path", "headers", "status", "code"),
    [
        ("GET", "/api/v1/tasks/none/", {}, 404, "not-found"),
        ("GET", "/api/v1/submissions/999/", {}, 404, "not-found"),
        ("GET", f"/api/v1/submissions/{'9' * 30}/", {}, 404, "not-found"),
        ("GET", f"/api/v1/submissions/{'9' * 5000}/", {}, 404, "not-found"),
        ("GET", "/api/v1/", {}, 404, "not-found"),
        ("POST", "/api/v1/nothing/here", {}, 404, "not-found"),
        ("DELETE", "/api/v1/tasks/", {}, 401, "not-authenticated"),
        ("GET", "/api/v1/tasks/", {"Accept": "text/html"}, 406, "not-acceptable"),
        ("GET", "/api/v1/submissions/", {}, 401, "not-authenticated"),
        (
            "GET",
            "/api/v1/tasks/",
            {"Authorization": "Token wrong"},
            401,
            "authentication-failed",
        ),
        ("GET", "/api/v1/tasks/?page=x", {}, 400, "bad-page"),
        ("GET", "/api/v1/tasks/?page_size=1e9", {}, 400, "bad-page"),
    ],
)
def test_every_refusal_has_the_one_format(method, path, headers, status, code):
    answer = Client().generic(method, path, headers=headers)
    assert answer.status_code == status
    assert problem_of(answer)["code"] == code


def test_a_method_that_is_not_offered_says_which_are(cast):
    client = Client()
    client.force_login(cast.staff)
    answer = client.delete("/api/v1/tasks/")
    assert problem_of(answer)["code"] == "method-not-allowed"
    assert "GET" in answer.headers["Allow"]


def test_a_fault_of_ours_is_a_problem_too_and_is_reported(task, monkeypatch, caplog):
    def broken(*_args, **_options):
        raise ZeroDivisionError("a secret of the inside")

    monkeypatch.setattr(tasks, "standings", broken)
    client = Client(raise_request_exception=False)
    answer = client.get("/api/v1/tasks/tidy-news/leaderboard/")
    assert problem_of(answer)["code"] == "internal-error"
    assert "secret" not in answer.text
    assert "ZeroDivisionError" in caplog.text
    with pytest.raises(ZeroDivisionError):  # as any other view's would
        Client().get("/api/v1/tasks/tidy-news/leaderboard/")


def test_who_asks_too_often_is_told_when_to_come_back(task, monkeypatch):
    monkeypatch.setattr(AnonRateThrottle, "rate", "2/hour", raising=False)
    client = Client()
    answers = [client.get("/api/v1/tasks/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert problem_of(answers[2])["code"] == "throttled"
    assert 3500 < int(answers[2].headers["Retry-After"]) <= 3600
    assert {one["RateLimit-Policy"] for one in answers} == {'"anon";q=2;w=3600'}
    left = [one["RateLimit"].rpartition(";t=")[0] for one in answers]
    assert left == ['"anon";r=1', '"anon";r=0', '"anon";r=0']
    assert 3500 < int(answers[2]["RateLimit"].rpartition("=")[2]) <= 3600


def test_checking_files_uses_up_none_of_what_may_be_sent(api_of, task, monkeypatch):
    monkeypatch.setattr(SubmitThrottle, "rate", "1/hour")
    monkeypatch.setattr(ValidateThrottle, "rate", "2/hour")
    api = api_of("submitter")
    checks = [
        api.post("/submissions/validate/", {"task": "none"}).status_code
        for _ in range(3)
    ]
    assert checks == [400, 400, 429]
    assert api.submit().status_code == 201
