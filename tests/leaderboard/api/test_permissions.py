"""Who gets what of the API: the whole cast on every route."""

import json

import pytest

from leaderboard.models import Submission
from tests.cast import CAST


@pytest.fixture
def apis(cast, api_of, task):
    return {who: api_of(who) for who in CAST}


def test_only_the_signed_in_list_and_hand_in(apis):
    for answer in (apis["visitor"].get("/submissions/"), apis["visitor"].submit()):
        assert answer.status_code == 401
        assert answer.json()["code"] == "not-authenticated"
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert not Submission.own.exists()
    for who in CAST[1:]:
        # each hands in something else: the same again is refused
        texts = json.dumps({f"i{n}": f"{who} wrote {n}." for n in range(3)})
        assert apis[who].get("/submissions/").status_code == 200
        answer = apis[who].submit(texts, system_name=f"{who}'s")
        assert answer.status_code == 201, (who, answer.content)


def test_nobody_hands_in_for_another_team(api_of, cast, task):
    answer = api_of("rival").submit(team=cast.team.slug)
    assert answer.status_code == 403
    assert answer.json()["code"] == "not-a-member"
    missing = api_of("rival").submit(team="no-such-team")
    assert (
        missing.json()["detail"].replace("no-such-team", cast.team.slug)
        == (answer.json()["detail"])
    )
    assert not Submission.own.exists()


def test_a_session_without_a_csrf_token_hands_in_nothing(cast, task, settings):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.submitter)
    answer = client.post("/api/v1/submissions/", {"task": "tidy-news"})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission-denied")


def test_an_account_that_was_closed_opens_nothing(api_of, cast, task):
    api = api_of("submitter")
    cast.submitter.is_active = False
    cast.submitter.save()
    assert api.get("/submissions/").status_code == 401
