"""Who gets what of the API: the whole cast on every route."""

import pytest

from genie.accounts import tokens
from leaderboard.models import Submission
from tests.cast import CAST, INSIDERS
from tests.factories import make_ranked, make_submission

State = Submission.State

PRIVATE = {"visibility": Submission.Visibility.PRIVATE}
OPEN = ["/tasks/", "/tasks/tidy-news/", "/tasks/tidy-news/instances/"]


@pytest.mark.parametrize("who", CAST)
@pytest.mark.parametrize("path", [*OPEN, "/tasks/tidy-news/leaderboard/"])
def test_everybody_reads_tasks_and_boards(api_of, task, who, path):
    assert api_of(who).get(path).status_code == 200


@pytest.mark.parametrize("who", CAST)
def test_only_the_signed_in_list_and_hand_in(api_of, task, who):
    api = api_of(who)
    listed, handed_in = api.get("/submissions/"), api.submit()
    if who == "visitor":
        for answer in (listed, handed_in):
            assert answer.status_code == 401
            assert answer.json()["code"] == "not-authenticated"
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert not Submission.objects.exists()
    else:
        assert (listed.status_code, handed_in.status_code) == (200, 201)


@pytest.mark.parametrize("who", CAST)
@pytest.mark.parametrize(
    ("state", "private"),
    [
        (State.RECEIVED, False),
        (State.INVALID, False),
        (State.DECLINED, False),
        (State.MEASURED, True),
        (State.PUBLISHED, True),
    ],
)
def test_what_is_private_is_not_for_outsiders(api_of, cast, task, who, state, private):
    submission = make_submission(
        task,
        team=cast.team,
        owner=cast.submitter,
        state=state,
        system="Secretive",
        **(PRIVATE if private else {}),
    )
    api = api_of(who)
    hidden = api.get(f"/submissions/{submission.pk}/")
    nothing = api.get(f"/submissions/{submission.pk + 1}/")
    if who in INSIDERS:
        assert hidden.status_code == 200
    else:
        assert hidden.status_code == 404
        assert hidden.content == nothing.content  # not even that it is there


@pytest.mark.parametrize("who", CAST)
def test_public_results_are_everybodys(api_of, cast, task, who):
    submission = make_ranked(task, 70, team=cast.team, owner=cast.submitter)
    assert api_of(who).get(f"/submissions/{submission.pk}/").status_code == 200


@pytest.mark.parametrize("who", CAST)
@pytest.mark.every_engine
def test_private_rows_stand_on_the_teams_board_only(api_of, cast, task, who):
    make_ranked(
        task, 70, team=cast.team, owner=cast.submitter, system="Secretive", **PRIVATE
    )
    rows = api_of(who).get("/tasks/tidy-news/leaderboard/").json()["results"]
    seen = [row["system"] for row in rows]
    assert seen == (["Secretive"] if who in {"submitter", "team_mate"} else [])


@pytest.mark.parametrize("who", [name for name in CAST if name != "visitor"])
def test_nobody_lists_another_teams_submissions(api_of, cast, task, who):
    make_submission(task, team=cast.team, owner=cast.submitter)
    found = api_of(who).get("/submissions/").json()["count"]
    assert found == (1 if who in {"submitter", "team_mate"} else 0)


def test_nobody_hands_in_for_another_team(api_of, cast, task):
    answer = api_of("rival").submit(team=cast.team.slug)
    assert answer.status_code == 403
    assert answer.json()["code"] == "not-a-member"
    missing = api_of("rival").submit(team="no-such-team")
    assert (
        missing.json()["detail"].replace("no-such-team", cast.team.slug)
        == (answer.json()["detail"])
    )
    assert not Submission.objects.exists()


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
