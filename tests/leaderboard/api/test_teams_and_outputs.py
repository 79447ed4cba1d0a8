"""One's teams, what systems wrote, who led a board, and going on by cursor."""

import pytest
from django.test import Client

from leaderboard.api.base import Reads, SubmitThrottle, Writes
from tests.factories import make_predictions, make_ranked, make_submission
from tests.leaderboard.api.conftest import V1


def test_members_see_their_team_and_others_none(api_of, cast):
    own = api_of("team_mate").get("/teams/").json()["results"]
    assert [(row["slug"], row["role"]) for row in own] == [(cast.team.slug, "MEMBER")]
    found = api_of("team_mate").get(f"/teams/{cast.team.slug}/").json()
    names = [(row["username"], row["role"]) for row in found["members"]]
    assert names == [("nina", "OWNER"), ("tom", "MEMBER")]
    assert "@" not in str(found)
    for name in ("rival", "superuser"):
        assert api_of(name).get(f"/teams/{cast.team.slug}/").status_code == 404


def test_outputs_are_the_teams_until_the_result_is_published(api_of, task, cast):
    who = {"team": cast.team, "owner": cast.submitter}
    waiting = make_submission(task, **who)
    public = make_ranked(task, 70, system="Owl", **who)
    for one in (waiting, public):
        make_predictions(one)
    path = f"/submissions/{waiting.pk}/outputs/"
    assert api_of("rival").get(path).json()["code"] == "not-published"
    rows = api_of("submitter").get(path, page_size=2).json()
    assert [row["position"] for row in rows["results"]] == [0, 1]
    assert (rows["count"], "cursor=1" in rows["next"]) == (3, True)
    rest = api_of("submitter").get(path, page_size=2, cursor=1).json()
    assert [row["id"] for row in rest["results"]] == ["i2"]
    assert rest["next"] is None
    found = api_of("visitor").get(f"/submissions/{public.pk}/outputs/").json()
    assert found["results"][0]["text"] == "Prediction for i0. Owl"


@pytest.mark.every_engine
def test_a_list_that_grows_is_gone_through_without_a_row_twice(api_of, task, cast):
    who = {"team": cast.team, "owner": cast.submitter}
    old = [make_submission(task, system=f"S{n}", **who).pk for n in range(3)]
    nina = api_of("submitter")
    first = nina.get("/submissions/", page_size=2).json()
    make_submission(task, system="New", **who)
    more = Client().get(first["next"], headers=nina.headers).json()
    seen = [row["id"] for row in first["results"] + more["results"]]
    assert seen == sorted(old, reverse=True)
    assert more["next"] is None
    by_number = nina.get("/submissions/", page_size=2, page=2).json()
    assert by_number["previous"]
    assert nina.get("/submissions/", cursor="x").json()["code"] == "bad-page"


def test_the_story_of_a_board_says_who_led(api_of, task, cast):
    who = {"team": cast.team, "owner": cast.submitter}
    for mean, name in ((60, "Kite"), (50, "Wren"), (80, "Owl")):
        make_ranked(task, mean, system=name, **who)
    rows = api_of("visitor").get(f"/tasks/{task.slug}/history/").json()["results"]
    assert [(row["system"], row["led"]) for row in rows] == [
        ("Kite", True),
        ("Wren", False),
        ("Owl", True),
    ]
    assert (rows[0]["gain"], rows[2]["gain"]) == (None, 20.0)
    assert rows[0]["html_url"].startswith("http://testserver/submissions/")


def test_each_limit_is_counted_apart_and_named(api_of, task, monkeypatch, cast):
    monkeypatch.setattr(Reads, "rate", "2/hour", raising=False)
    monkeypatch.setattr(Writes, "rate", "1/hour")
    monkeypatch.setattr(SubmitThrottle, "rate", "1/minute")
    api = api_of("submitter")
    for _ in range(2):
        assert api.get("/teams/").status_code == 200
    said = api.get("/teams/").json()["detail"]
    assert said.startswith("Reading requests are limited to 2 an hour. Try again in")
    assert said.endswith("UTC.")
    # what was read uses up no change, and a change no submission
    assert api.post("/comparisons/", {}).status_code == 400
    assert (
        "Changes are limited to 1 an hour"
        in api.post("/comparisons/", {}).json()["detail"]
    )
    assert api.submit().status_code == 201
    assert "Submissions are limited to 1 a minute" in api.submit().json()["detail"]
    assert Client().get(f"{V1}/tasks/").status_code == 200
