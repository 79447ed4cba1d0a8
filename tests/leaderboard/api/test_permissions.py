"""Who gets what of the API: the whole cast on every route."""

import json

import pytest

from genie.accounts import tokens
from leaderboard.models import Submission
from tests.cast import CAST, INSIDERS
from tests.each import each
from tests.factories import make_ranked, make_submission

State = Submission.State

PRIVATE = {"visibility": Submission.Visibility.PRIVATE}


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


@each(
    ("state", "private"),
    [
        (State.RECEIVED, False),
        (State.INVALID, False),
        (State.DECLINED, False),
        (State.MEASURED, True),
        (State.PUBLISHED, True),
    ],
)
def test_what_is_private_is_not_for_outsiders(apis, cast, task, state, private):
    submission = make_submission(
        task,
        team=cast.team,
        owner=cast.submitter,
        state=state,
        system="Secretive",
        **(PRIVATE if private else {}),
    )
    for who, api in apis.items():
        hidden = api.get(f"/submissions/{submission.pk}/")
        if who in INSIDERS:
            assert hidden.status_code == 200
        else:
            assert hidden.status_code == 404
            # not even that it is there
            nothing = api.get(f"/submissions/{submission.pk + 1}/")
            assert hidden.content == nothing.content


@pytest.mark.every_engine
def test_private_rows_stand_on_the_teams_board_only(apis, cast, task):
    who = {"team": cast.team, "owner": cast.submitter}
    public = make_ranked(task, 60, system="Open", **who)
    make_ranked(task, 70, system="Secretive", **who, **PRIVATE)
    for name, api in apis.items():
        insider = name in {"submitter", "team_mate"}
        rows = api.get("/tasks/tidy-news/leaderboard/").json()["results"]
        seen = [row["system"] for row in rows]
        assert seen == (["Secretive", "Open"] if insider else ["Open"])
        assert api.get(f"/submissions/{public.pk}/").status_code == 200
        # no one lists another team's submissions
        if name != "visitor":
            assert api.get("/submissions/").json()["count"] == (2 if insider else 0)


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


def test_a_token_that_was_taken_back_opens_nothing(api_of, cast, task):
    api = api_of("submitter")
    assert api.get("/submissions/").status_code == 200
    tokens.revoke(cast.submitter.access_tokens.get())
    answer = api.get("/submissions/")
    assert (answer.status_code, answer.json()["code"]) == (401, "authentication-failed")


def test_an_account_that_was_closed_opens_nothing(api_of, cast, task):
    api = api_of("submitter")
    cast.submitter.is_active = False
    cast.submitter.save()
    assert api.get("/submissions/").status_code == 401


def test_a_session_without_a_csrf_token_hands_in_nothing(cast, task, settings):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.submitter)
    answer = client.post("/api/v1/submissions/", {"task": "tidy-news"})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission-denied")
