"""A mistyped query parameter is refused with what would have been right."""

from django.test import Client

from tests.each import each
from tests.factories import make_instances, make_submission, make_task, make_user
from tests.leaderboard.api.conftest import V1, schema

BOARD = "/tasks/tidy-news/leaderboard/"


@each(
    ("path", "parameter", "choices"),
    [
        ("/tasks/", "kind", ["summarization"]),
        (BOARD, "sort", ["human", "system", "date", "sacrebleu", "chrf"]),
        (BOARD, "dir", ["asc", "desc"]),
        (BOARD, "kind", ["people", "simulated"]),
        (BOARD, "scored", ["1"]),
        ("/tasks/tidy-news/scores/", "superseded", ["yes", "no"]),
        ("/tasks/tidy-news/scores/", "criterion", ["overall"]),
        ("/tasks/tidy-news/metric-results/", "metric", ["sacrebleu", "chrf"]),
        ("/tasks/tidy-news/metric-board/", "criterion", ["overall"]),
        ("/tasks/tidy-news/metric-board/", "by", ["pearson"]),
        ("/submissions/", "state", ["RECEIVED", "PUBLISHED"]),
        ("/campaigns/", "state", ["RUNNING", "PAUSED"]),
        ("/workers/", "excluded", ["yes", "no"]),
        ("/workers/", "platform", ["selfhosted", "mturk", "prolific"]),
        ("/bans/", "in_force", ["yes", "no"]),
    ],
)
def test_a_mistyped_value_is_told_its_choices(api_of, task, path, parameter, choices):
    api = api_of("superuser")
    assert api.get(path, **{parameter: ""}).status_code == 200
    answer = api.get(path, **{parameter: "mistyped"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-choice")
    assert set(choices) <= set(answer.json()["details"]["choices"])
    assert "'mistyped'" in answer.json()["detail"]
    assert all(choice in answer.json()["detail"] for choice in choices)
    for right in choices:
        assert api.get(path, **{parameter: right}).status_code == 200


@each(
    ("path", "parameter", "value", "status", "code"),
    [
        (BOARD, "since", "yesterday", 400, "invalid"),
        (BOARD, "until", "2026-13-01", 400, "invalid"),
        (BOARD, "q", "x" * 101, 400, "invalid"),
        ("/tasks/", "q", "a\x00b", 400, "invalid"),
        ("/comparisons/", "task", "none", 404, "unknown-task"),
        ("/joint-evaluations/", "task", "none", 404, "unknown-task"),
        ("/campaigns/", "task", "none", 404, "unknown-task"),
        ("/bans/", "task", "no\x00ne", 404, "unknown-task"),
        ("/workers/", "banned_from", "none", 404, "unknown-task"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused(
    api_of, task, path, parameter, value, status, code
):
    answer = api_of("superuser").get(path, **{parameter: value})
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def readable(slug, pk):
    for path, methods in schema()["paths"].items():
        if "get" in methods:
            names = {"{slug}": slug, "{id}": str(pk), "{number}": "0"}
            for name, value in names.items():
                path = path.replace(name, value)
            yield path


def test_every_route_refuses_a_parameter_that_it_does_not_have(api_of, task, cast):
    cast.team.members.add(cast.superuser, through_defaults={"role": "OWNER"})
    kite = make_submission(task, team=cast.team, owner=cast.superuser)
    api = api_of("superuser")
    paths = list(readable(task.slug, kite.pk))
    assert len(paths) > 20
    for path in paths:
        answer = api.get(path.removeprefix(V1), sorrt="human")
        assert (answer.status_code, answer.json()["code"]) == (
            400,
            "unknown-parameter",
        ), path
        assert "'sorrt'" in answer.json()["detail"]
    assert "sort, dir" in api.get(BOARD, sorrt="human").json()["detail"]


def test_the_format_may_be_named_in_the_address(api_of, task):
    assert api_of("visitor").get("/tasks/", format="json").status_code == 200


@each(
    ("asked", "status", "ids"),
    [
        ("", 200, ["i0", "i1"]),
        ("&page=2", 200, ["i2", "i3"]),
        ("&page=3", 200, ["i4"]),
        ("&page=4", 404, None),
        ("&page=99999", 404, None),
        ("&page=0", 404, None),
        ("&page=-7", 404, None),
        (f"&page={2**63}", 404, None),
        (f"&page={'9' * 6000}", 400, None),
        ("&page=last", 400, None),
    ],
)
def test_there_is_no_page_after_the_last(api_of, asked, status, ids):
    make_task("tidy-news", n_instances=5)
    answer = Client().get(f"/api/v1/tasks/tidy-news/instances/?page_size=2{asked}")
    assert answer.status_code == status
    if ids:
        assert [row["id"] for row in answer.json()["results"]] == ids
    elif status == 404:
        assert answer.json()["code"] == "not-found"
        assert "no page" in answer.json()["detail"]


def test_every_list_has_no_page_after_its_last(api_of, task, cast):
    cast.team.members.add(cast.superuser, through_defaults={"role": "OWNER"})
    kite = make_submission(
        task, team=cast.team, owner=cast.superuser, state="PUBLISHED"
    )
    api = api_of("superuser")
    lists = [
        path
        for path in readable(task.slug, kite.pk)
        if "page_size" in str(schema()["paths"].get(path))
    ]
    for path in lists:
        assert api.get(path.removeprefix(V1), page=99999).status_code == 404, path
        first = api.get(path.removeprefix(V1), page=1)
        assert first.status_code == 200, path  # an empty list has one page


def test_a_page_is_never_larger_than_the_most(task):
    task.instances.all().delete()
    make_instances(task, 600)
    for size in ("501", "99999999999999999999", str(2**64)):
        answer = Client().get(f"{V1}/tasks/tidy-news/instances/?page_size={size}")
        assert len(answer.json()["results"]) == 500
        assert answer.json()["count"] == 600
        assert "page=2" in answer.json()["next"]
        assert answer.json()["previous"] is None


@each(
    "path",
    ["/tasks/tidy-news/?page={}", "/tasks/tidy-news/pairs/?page={}",
     "/submissions/?page={}"],
)  # fmt: skip
def test_pages_of_the_site_have_no_page_after_their_last_either(task, path):
    client = Client()
    client.force_login(make_user("nina"))
    assert client.get(path.format(1)).status_code == 200
    assert client.get(path.format("")).status_code == 200
    for wrong in ("2", "99999", "0", "x"):
        assert client.get(path.format(wrong)).status_code == 404, wrong
