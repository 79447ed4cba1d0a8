"""Tasks as bundles by program: out for whom may see them, in for whom may add them."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from genie.lib.bounded import Limits
from leaderboard.models import Task
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks import shipped
from leaderboard.tasks.drafts.bundle import bundle_of, unpack_bundle
from leaderboard.tasks.services import archives
from leaderboard.tasks.services.load import load_task
from tests.cast import allow
from tests.factories import make_user

ADDRESS = "/api/v1/bundles/"
ROWS = [(str(n), {"question": f"Why {n}?"}, [f"So {n}."]) for n in range(40)]


@pytest.fixture
def sara(client):
    sara = make_user("sara", is_staff=True)
    client.force_login(sara)
    return sara


def sent(client, data, **fields):
    file = SimpleUploadedFile("task.zip", data, "application/zip")
    return client.post(ADDRESS, {"file": file, **fields})


def a_bundle(**changes):
    document = {**shipped.definition("demo-qa"), "slug": "mine", **changes}
    return bundle_of(document, ROWS).to_zip()


def test_a_bundle_goes_in_and_comes_out_with_the_same_bytes(client, sara):
    allow(sara, Staff.IMPORT_TASKS, Staff.EXPORT_TASKS)
    looked = sent(client, a_bundle(), dry_run="true")
    assert (looked.status_code, looked.json()["created"]) == (200, False)
    assert not Task.own.exists()
    answer = sent(client, a_bundle())
    assert answer.status_code == 201
    assert answer.json() == {
        "slug": "mine",
        "created": True,
        "n_instances": 40,
        "n_references": 40,
        "problems": [],
    }
    # to change what is there takes more than to add something
    assert sent(client, a_bundle(title="Other")).status_code == 403
    assert Task.own.get().title != "Other"
    allow(sara, Staff.SEE_REFERENCES)
    assert sent(client, a_bundle()).status_code == 200
    for accept in ("*/*", "application/zip"):
        out = client.get(f"{ADDRESS}mine/", headers={"Accept": accept})
        assert out["Content-Type"] == "application/zip"
        assert out.content == a_bundle()


def test_hidden_references_need_a_permission_of_their_own(client, sara):
    load_task("demo-qa", hide_references=True)
    allow(sara, Staff.EXPORT_TASKS)
    data = unpack_bundle(client.get(f"{ADDRESS}demo-qa/").content).files["test.jsonl"]
    assert b'"references": ["' not in data
    allow(sara, Staff.SEE_REFERENCES)
    data = unpack_bundle(client.get(f"{ADDRESS}demo-qa/").content).files["test.jsonl"]
    assert b'"references": ["' in data


def test_what_is_wrong_is_said_at_once_with_a_code(client, sara):
    allow(sara, Staff.IMPORT_TASKS)
    for data, status, code in (
        (b"no zip", 400, "bad-bundle"),
        (a_bundle(titel="x", quota={"days": 0}), 400, "unusable-task"),
        (a_bundle(slug="demo-qa"), 409, "slug-taken"),
    ):
        answer = sent(client, data)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    human = shipped.definition("demo-qa")["human"] | {
        "hit_template": "general-judgement"
    }
    del human["criteria"]
    bundle = a_bundle(titel="x", quota={"days": 0}, human=human)
    wrong = sent(client, bundle, dry_run="true").json()["problems"]
    keys = ["titel", "quota.days", "human.criteria"]
    assert [one.partition(":")[0] for one in wrong] == keys
    sent(client, a_bundle())
    other = bundle_of({**shipped.definition("demo-qa"), "slug": "mine"}, ROWS[:39])
    allow(sara, Staff.SEE_REFERENCES)
    answer = sent(client, other.to_zip())
    assert (answer.status_code, answer.json()["code"]) == (409, "release-changed")


@pytest.mark.bounded
def test_an_archive_is_read_in_a_process_with_limits(client, sara, monkeypatch):
    allow(sara, Staff.IMPORT_TASKS)
    monkeypatch.setattr(
        archives, "LIMITS", Limits(cpu_seconds=20, memory_bytes=24 << 20)
    )
    document = {**shipped.definition("demo-qa"), "slug": "mine"}
    rows = [(str(n), {"question": "Why?" * 9}, []) for n in range(60_000)]
    answer = sent(client, bundle_of(document, rows).to_zip(), dry_run="true")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-bundle")
    assert "more time or memory" in answer.json()["detail"]
