"""A program asks whose token it has, what it may do and for which teams."""

from django.test import Client

from tests.leaderboard.api.conftest import V1, authorization


def test_a_token_says_whose_it_is_and_what_it_may_do(cast, task):
    headers = authorization(cast.submitter, "read", "submit")
    found = Client().get(f"{V1}/whoami/", headers=headers).json()
    assert found["username"] == "nina"
    assert found["teams"] == [
        {"slug": cast.team.slug, "name": "Team Heron", "role": "OWNER"}
    ]
    assert found["token"]["scopes"] == ["read", "submit"]
    assert found["token"]["name"] == "test"
    assert found["token"]["expires_at"] is None


def test_a_session_has_no_token(cast):
    client = Client()
    client.force_login(cast.rival)
    found = client.get(f"{V1}/whoami/").json()
    assert (found["username"], found["token"]) == ("rita", None)


def test_nobody_is_nobody(api_of):
    assert api_of("visitor").get("/whoami/").status_code == 401
    assert api_of("team_mate").get("/whoami/").json()["teams"][0]["role"] == "MEMBER"
