"""Handing in through the API: taken, refused, and what bad files do."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from genie.lib import jobs
from leaderboard.models import Prediction, Submission, Team
from tests.each import each
from tests.factories import make_submission, make_team
from tests.leaderboard.api.conftest import authorization
from tests.leaderboard.bad_files import GOOD, HARMLESS, REFUSED

State = Submission.State
BROKEN = {"bad-request", "invalid"}


@pytest.mark.every_engine
def test_a_submission_is_stored_counted_and_queued(api_of, cast, task):
    content = json.dumps(GOOD).encode()
    links = ["https://heron.example/paper", "https://heron.example/code"]
    answer = api_of("submitter").submit(
        content,
        team=cast.team.slug,
        description="Beam search.",
        links=links,
        visibility="PRIVATE",
        anonymous_until="2099-01-01",
        organization="Heron Lab",
        weights="closed",
        parameters="~1.5B",
        licence="proprietary",
    )
    assert answer.status_code == 201
    found = answer.json()
    assert [found[name] for name in ("weights", "parameters")] == ["closed", "~1.5B"]
    assert (found["organization"], found["baseline"]) == ("Heron Lab", "")
    assert answer.headers["Location"] == found["url"]
    assert found["state"] == "RECEIVED"
    submission = Submission.objects.get(pk=found["id"])
    assert submission.owner == cast.submitter
    assert submission.team == cast.team
    assert submission.visibility == "PRIVATE"
    assert submission.links == links
    assert submission.file_sha256 == hashlib.sha256(content).hexdigest()
    with default_storage.open(submission.file.name) as stored:
        assert stored.read() == content
    assert jobs.queued_jobs() == {
        ("leaderboard.jobs.validate", (("pk", submission.pk),))
    }


def test_without_a_team_the_submitters_own_is_taken(api_of, cast, task):
    api_of("staff").submit(task="no-such-task")
    assert not Team.objects.filter(members=cast.staff).exists()
    assert api_of("staff").submit().status_code == 201
    assert Submission.own.get().team.members.get() == cast.staff


def test_who_is_in_several_teams_says_which_one_submits(api_of, cast, task):
    egret = make_team("Team Egret", cast.submitter)
    answer = api_of("submitter").submit()
    assert (answer.status_code, answer.json()["code"]) == (400, "team-required")
    slugs = [cast.team.slug, egret.slug]
    assert answer.json()["details"]["choices"] == slugs
    assert all(slug in answer.json()["detail"] for slug in slugs)
    assert not Submission.own.exists()
    named = api_of("submitter").submit(team=egret.slug)
    assert named.json()["team"]["name"] == "Team Egret"


@pytest.mark.parametrize("who", ["staff", "superuser"])
def test_staff_have_no_quota_with_a_token_of_the_scope_staff(cast, task, who):
    user = getattr(cast, who)
    permission = Permission.objects.get(codename="add_submission")
    cast.staff.user_permissions.add(permission)
    for n in range(3):
        make_submission(task, team=cast.team, owner=user, system=f"S{n}")
    cast.team.members.add(user)

    def hand_in(*scopes):
        file = SimpleUploadedFile("p.json", json.dumps(GOOD).encode())
        data = {"task": "tidy-news", "system_name": "Kite", "file": file}
        headers = authorization(user, *scopes)
        return Client().post("/api/v1/submissions/", data, headers=headers)

    assert hand_in("submit").json()["code"] == "quota-reached"
    assert hand_in("submit", "staff").status_code == 201


def test_the_address_in_the_answer_tells_how_it_goes_on(api_of, task):
    api = api_of("submitter")
    path = api.submit().json()["url"].removeprefix("http://testserver/api/v1")
    jobs.drain()
    found = api.get(path).json()
    assert found["state"] == "MEASURED"
    assert set(found["metrics"]) == {"sacrebleu", "chrf", "rougeL", "length"}
    assert found["metrics"]["sacrebleu"]["signature"]


@each("name", REFUSED)
def test_a_bad_file_ends_as_invalid_with_one_clear_sentence(api_of, task, name):
    file_name, content, code = REFUSED[name]
    api = api_of("submitter")
    path = f"/submissions/{api.submit(content(), name=file_name).json()['id']}/"
    jobs.drain()
    found = api.get(path).json()
    assert found["state"] == "INVALID"
    assert code in [error["code"] for error in found["errors"]]
    for error in found["errors"]:
        assert error["message"].endswith(".")
        assert "\n" not in error["message"]
    assert not Prediction.own.exists()
    assert found["metrics"] == {}


@pytest.mark.every_engine
def test_dangerous_looking_text_arrives_as_it_was_sent(api_of, task):
    answer = api_of("submitter").submit(json.dumps(HARMLESS), system_name="</title>]]>")
    jobs.drain()
    submission = Submission.objects.get(pk=answer.json()["id"])
    assert submission.state == State.MEASURED
    stored = submission.predictions.values_list("instance__instance_id", "text")
    assert dict(stored) == HARMLESS
    assert submission.system_name == "</title>]]>"


def test_a_file_that_announces_300_mb_is_refused_before_it_is_read(cast, task):
    answer = Client().generic(
        "POST",
        "/api/v1/submissions/",
        data=Unread(300 << 20),
        content_type="multipart/form-data; boundary=x",
        headers=authorization(cast.submitter),
    )
    assert answer.status_code == 413
    assert answer.json()["code"] == "file-too-large"
    assert "100 MB" in answer.json()["detail"]
    assert "also applies after decompression" in answer.json()["detail"]


class Unread(bytes):
    """A body that only says how long it is."""

    def __new__(cls, length):
        made = super().__new__(cls, b"x")
        made.length = length
        return made

    def __len__(self):
        return self.length


def test_a_file_that_lies_about_its_size_is_refused_too(api_of, task, settings):
    answer = api_of("submitter").submit(description="d" * (3 << 20))
    assert (answer.status_code, answer.json()["code"]) == (413, "request-too-large")
    settings.GENIE = {**settings.GENIE, "MAX_UPLOAD_BYTES": 100}
    answer = api_of("submitter").submit("x" * 101)
    assert (answer.status_code, answer.json()["code"]) == (413, "file-too-large")
    assert not Submission.own.exists()


@each(
    ("fields", "status", "code", "field"),
    [
        ({"file": None}, 400, "invalid", "file"),
        ({"file": "just text"}, 400, "invalid", "file"),
        ({"file": SimpleUploadedFile("p.json", b"")}, 400, "empty-file", None),
        ({"system_name": ""}, 400, "invalid", "system_name"),
        ({"system_name": "x" * 101}, 400, "invalid", "system_name"),
        ({"system_name": "a\x00b"}, 400, "invalid", "system_name"),
        ({"system_name": "a\u202eb"}, 400, "bad-name", None),
        ({"description": "d" * 4001}, 400, "invalid", "description"),
        ({"links": ["javascript:alert(1)"]}, 400, "bad-link", None),
        ({"parameters": "lots"}, 400, "bad-detail", None),
        ({"weights": "ajar"}, 400, "invalid", "weights"),
        ({"links": ["https://a.example"] * 11}, 400, "invalid", "links"),
        ({"visibility": "SECRET"}, 400, "invalid", "visibility"),
        ({"anonymous_until": "soon"}, 400, "invalid", "anonymous_until"),
        ({"task": "no-such-task"}, 404, "unknown-task", None),
        ({"task": "../admin"}, 400, "invalid", "task"),
    ],
)
def test_a_wrong_field_is_named_nothing_kept(api_of, task, fields, status, code, field):
    answer = api_of("submitter").submit(**fields)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert [e["field"] for e in answer.json().get("errors", [])][:1] == (
        [field] if field else []
    )
    assert not Submission.own.exists()
    assert not jobs.n_waiting()


def test_a_task_that_is_closed_takes_nothing(api_of, task):
    task.accepts_submissions = False
    task.save()
    answer = api_of("submitter").submit()
    assert (answer.status_code, answer.json()["code"]) == (409, "not-accepting")


def test_the_quota_says_when_to_come_back(api_of, cast, task, who):
    for n in range(3):
        make_submission(task, **who, system=f"S{n}")
    Submission.own.update(created_at=timezone.now() - timedelta(days=6, hours=23))
    answer = api_of("team_mate").submit(team=cast.team.slug)
    assert (answer.status_code, answer.json()["code"]) == (429, "quota-reached")
    assert answer.json()["details"]["limit"] == 3
    assert 3500 < int(answer.headers["Retry-After"]) <= 3601
    assert Submission.own.count() == 3


@each(
    ("body", "content_type", "status", "codes"),
    [
        (b"--x\r\nnonsense", "multipart/form-data; boundary=x", 400, BROKEN),
        (b"anything", "multipart/form-data", 400, BROKEN),
        (b"", "multipart/form-data; boundary=x", 400, BROKEN),
        (b"{}", "application/json", 415, {"unsupported-media-type"}),
    ],
)
def test_a_broken_body_is_refused_not_a_crash(
    cast, task, body, content_type, status, codes
):
    answer = Client(raise_request_exception=False).generic(
        "POST",
        "/api/v1/submissions/",
        body,
        content_type=content_type,
        headers=authorization(cast.submitter),
    )
    assert answer.status_code == status
    assert answer.json()["code"] in codes
