"""Public answers may be kept by caches and read by pages of other sites; others not."""

from django.test import Client

from tests.each import each
from tests.factories import make_ranked
from tests.leaderboard.api.conftest import V1, authorization

BOARD = f"{V1}/tasks/tidy-news/leaderboard/"
PUBLIC = [f"{V1}/tasks/", f"{V1}/tasks/tidy-news/", BOARD, "/api/schema/"]


def varies(answer):
    return {name.strip() for name in answer["Vary"].split(",")}


@each("path", PUBLIC)
def test_what_is_the_same_for_everybody_may_be_kept_and_shared(task, path):
    answer = Client().get(path)
    assert answer.status_code == 200
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer
    assert set(answer["Cache-Control"].split(", ")) == {"public", "max-age=60"}
    assert {"Authorization", "Cookie"} <= varies(answer)
    assert ("Accept" in varies(answer)) == (path == "/api/schema/")  # the rest is JSON
    again = Client().get(path, headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["Cache-Control"] == answer["Cache-Control"]
    # an answer without content is not compressed
    assert varies(again) == varies(answer) - {"Accept-Encoding"}


@each("path", PUBLIC)
def test_what_somebody_reads_signed_in_is_theirs(task, cast, path):
    session = Client()
    session.force_login(cast.submitter)
    by_token = Client().get(path, headers=authorization(cast.submitter))
    for answer in (session.get(path), by_token):
        assert answer.status_code == 200
        assert "Access-Control-Allow-Origin" not in answer
        assert set(answer["Cache-Control"].split(", ")) == {"private", "no-cache"}
        assert {"Authorization", "Cookie"} <= varies(answer)


def test_a_private_row_is_in_no_answer_that_may_be_shared(task, cast, who):
    make_ranked(
        task, 70, **who, system="Secretive",
        visibility="PRIVATE"
    )  # fmt: skip
    own = Client().get(BOARD, headers=authorization(cast.submitter))
    assert "Secretive" in own.text
    assert "public" not in own["Cache-Control"]
    assert "Secretive" not in Client().get(BOARD).text


@each(
    ("path", "headers", "status", "shared"),
    [
        (f"{V1}/tasks/none/", {}, 404, True),
        (f"{BOARD}?sort=typo", {}, 400, True),
        (BOARD, {"Authorization": "Bearer wrong"}, 401, False),
    ],
)
def test_refusals_are_kept_by_nobody_but_other_sites_may_read_public_ones(
    task, path, headers, status, shared
):
    answer = Client().get(path, headers=headers)
    assert answer.status_code == status
    assert "no-cache" in answer["Cache-Control"]
    assert ("Access-Control-Allow-Origin" in answer) == shared


def test_no_other_site_may_send_anything(task):
    answer = Client().post(f"{V1}/submissions/", {})
    assert "Access-Control-Allow-Origin" not in answer
    asked = Client().options(
        f"{V1}/submissions/",
        headers={
            "Origin": "https://elsewhere.example",
            "Access-Control-Request-Method": "POST",
        },
    )
    assert "Access-Control-Allow-Methods" not in asked
