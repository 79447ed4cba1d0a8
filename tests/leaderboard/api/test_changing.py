"""Programs that hand in twice, check first, take back, and are told by webhook."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from genie.accounts import tokens
from genie.lib import jobs
from genie.lib.serving.one_at_a_time import one_at_a_time
from leaderboard.models import Submission
from leaderboard.submissions.selectors import Staff
from tests.cast import allow
from tests.each import each
from tests.factories import (
    make_evaluation,
    make_ranked,
    make_submission,
    make_task,
    make_team,
    make_user,
)
from tests.leaderboard.bad_files import GOOD

State = Submission.State


def keyed(api, key, **fields):
    api.headers["Idempotency-Key"] = key
    return api.submit(json.dumps(GOOD), **fields)


@pytest.mark.every_engine
def test_the_same_request_twice_is_one_submission(api_of, task):
    api = api_of("submitter")
    first, second = keyed(api, "k-1"), keyed(api, "k-1")
    assert first.status_code == second.status_code == 201
    assert first.json()["id"] == second.json()["id"]
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert Submission.own.count() == 1
    # a key does not come to mean two things
    refused = keyed(api, "k-1", system_name="Another")
    assert (refused.status_code, refused.json()["code"]) == (409, "key-reused")
    assert keyed(api_of("team_mate"), "k-1").status_code == 201  # a different user's
    # a refused request can be corrected under its key
    assert keyed(api, "k-2", system_name="a\u202eb").status_code == 400
    assert keyed(api, "k-2").json()["id"] != first.json()["id"]
    # a repeated request is answered even when the quota is used up
    assert keyed(api, "k-9").json()["code"] == "quota-reached"
    assert keyed(api, "k-1").json()["id"] == first.json()["id"]


@pytest.mark.every_engine
@each("key", ["", "k" * 201, "a\tb"])
def test_a_key_that_cannot_be_kept_is_refused(api_of, task, key):
    assert keyed(api_of("submitter"), key).json()["code"] == "bad-key"
    assert not Submission.own.exists()


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_twins_at_the_same_moment_make_one_submission():
    make_task("tidy-news")
    nina = make_user("nina")
    make_team("Heron", nina)
    _, secret = tokens.issue(nina, name="t", scopes=["submit"], days=None)
    headers = {"Authorization": f"Token {secret}", "Idempotency-Key": "twin"}

    def hand_in(_):
        try:
            file = SimpleUploadedFile("p.json", json.dumps(GOOD).encode())
            data = {"task": "tidy-news", "system_name": "Kite", "file": file}
            answer = Client().post("/api/v1/submissions/", data, headers=headers)
            return answer.status_code, answer.json()["id"]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = set(pool.map(hand_in, range(4)))
    assert len(answers) == 1
    assert Submission.own.count() == 1


@pytest.mark.bounded
def test_a_costly_file_is_given_up_and_one_is_checked_at_a_time(api_of, task):
    api = api_of("submitter")
    costly = b"{" + b'"a":"",' * 900_000 + b'"a":""}'
    found = check(api, costly).json()
    assert not found["valid"]
    assert [error["code"] for error in found["errors"]] == ["check-too-costly"]
    with one_at_a_time("check-by-accounts"):
        refused = check(api, json.dumps(GOOD).encode())
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert int(refused.headers["Retry-After"]) > 0


def test_a_check_takes_smaller_files_than_a_submission(api_of, task):
    refused = check(api_of("submitter"), b"x" * (9 << 20))
    assert (refused.status_code, refused.json()["code"]) == (413, "file-too-large")
    assert "8 MB" in refused.json()["detail"]
    assert "also after decompression" in refused.json()["detail"]


def test_long_texts_are_checked_without_the_pre_flight(api_of, task, monkeypatch):
    monkeypatch.setattr(
        "leaderboard.submissions.services.check_file._MOST_COMPARED_CHARACTERS", 10
    )
    found = check(api_of("submitter"), json.dumps(GOOD).encode()).json()
    assert found["valid"]
    assert [warning["code"] for warning in found["warnings"]] == ["pre-flight-left-out"]


def check(api, content, name="p.json", **fields):
    file = SimpleUploadedFile(name, content)
    return api.post(
        "/submissions/validate/", {"task": "tidy-news", "file": file, **fields}
    )


def test_a_file_is_checked_and_nothing_is_kept(api_of, task):
    api = api_of("submitter")
    good = check(api, json.dumps(GOOD).encode()).json()
    assert (good["valid"], good["n_predictions"], good["errors"]) == (True, 3, [])
    bad = check(api, b'{"i0": "one", "i9": "nine"}').json()
    assert not bad["valid"]
    assert {error["code"] for error in bad["errors"]} >= {"missing-ids", "unknown-ids"}
    same = check(api, json.dumps(dict.fromkeys(GOOD, "the same")).encode()).json()
    assert same["valid"]
    assert not Submission.own.exists()
    assert not jobs.n_waiting()


@each(
    ("content", "fields", "code"),
    [
        (b"", {}, "empty-file"),
        (b"{}", {"task": "none"}, "unknown-task"),
        (b"{}", {"task": ""}, "invalid"),
    ],
)
def test_what_cannot_be_checked_is_refused(api_of, task, content, fields, code):
    assert check(api_of("submitter"), content, **fields).json()["code"] == code
    assert check(api_of("visitor"), content, **fields).status_code == 401


def test_a_submission_is_taken_back_by_its_team_only(api_of, cast, task):
    kite = make_ranked(task, 70, team=cast.team, owner=cast.submitter)
    make_evaluation(make_submission(task, team=cast.team, owner=cast.submitter))
    path = f"/submissions/{kite.pk}/withdraw/"
    for who in ("rival", "worker", "staff", "superuser"):
        assert api_of(who).post(path, {}).status_code == 404
    assert api_of("visitor").post(path, {}).status_code == 401
    done = api_of("team_mate").post(path, {"reason": "A better one comes."})
    assert (done.status_code, done.json()["state"]) == (200, "WITHDRAWN")
    assert "A better one comes." in done.json()["events"][-1]["sentence"]
    again = api_of("submitter").post(path, {})
    assert (again.status_code, again.json()["code"]) == (409, "not-withdrawable")


def test_a_webhook_is_made_listed_and_removed(api_of, cast):
    path = f"/teams/{cast.team.slug}/webhooks/"
    api = api_of("submitter")
    made = api.post(path, {"url": "https://heron.example/hook"})
    assert made.status_code == 201
    assert made.json()["secret"].startswith("whsec_")
    (listed,) = api.get(path).json()["results"]
    assert "secret" not in listed
    assert api.post(path, {"url": "nowhere"}).json()["code"] == "bad-address"
    log = f"{path}{listed['id']}/deliveries/"
    assert api.get(log).json()["count"] == 0
    for who, status in (("team_mate", 404), ("rival", 404), ("superuser", 404)):
        other = api_of(who)
        assert other.get(path).status_code == status
        assert other.get(log).status_code == status
        removed = other.client.delete(
            f"/api/v1{path}{listed['id']}/", headers=other.headers
        )
        assert removed.status_code == status
    gone = api.client.delete(f"/api/v1{path}{listed['id']}/", headers=api.headers)
    assert gone.status_code == 204
    assert not cast.team.webhooks.exists()


def test_staff_read_campaigns_workers_and_bans(api_of, cast, task):
    from quality.models import Ban
    from tests.factories import answer, make_worker

    kite = make_submission(
        task, team=cast.team, owner=cast.submitter, state=State.ANNOTATING
    )
    evaluation = make_evaluation(kite, n=3)
    wren = make_worker(name="W-AT-THE-PLATFORM")
    answer(evaluation.subjects.first().item, wren)
    Ban.objects.create(worker=wren, pool_id="tidy-news", reason="Answers at random.")
    api = api_of("staff")
    (campaign,) = api.get("/campaigns/", task="tidy-news").json()["results"]
    assert (campaign["n_hits"], campaign["state"]) == (3, "RUNNING")
    assert api.get(f"/campaigns/{campaign['id']}/").json() == campaign
    assert api.get("/campaigns/", state="COMPLETE").json()["count"] == 1  # a decoy
    assert api.get("/campaigns/", state="LOST").json()["code"] == "bad-choice"
    workers = api.get("/workers/")
    line = next(
        row for row in workers.json()["results"] if row["pseudonym"] == wren.pseudonym
    )
    assert (line["n_handed_in"], line["banned_from"]) == (1, ["tidy-news"])
    assert "W-AT-THE-PLATFORM" not in workers.text
    assert api.get("/workers/", banned_from=task.slug).json()["count"] == 1
    for nobody in ({"platform": "prolific"}, {"excluded": "yes"}):
        assert api.get("/workers/", **nobody).json()["count"] == 0, nobody
    ban, *_ = api.get("/bans/", in_force="yes").json()["results"]
    assert (ban["worker"], ban["by_detector"]) == (wren.pseudonym, True)


def test_bans_show_among_workers_only_to_staff_who_may_see_bans(api_of, cast, task):
    from quality.models import Ban
    from tests.factories import make_worker

    wren = make_worker()
    Ban.objects.create(worker=wren, pool_id=task.slug, reason="Answers at random.")
    allow(cast.new_staff, Staff.SEE_WORKERS)
    api = api_of("new_staff")
    lines = api.get("/workers/").json()["results"]
    assert {line["banned_from"] for line in lines} == {None}
    refused = api.get("/workers/", banned_from=task.slug)
    assert (refused.status_code, refused.json()["code"]) == (403, "permission-denied")
    assert "quality.view_ban" in refused.json()["detail"]
    refused = api.get("/bans/")
    assert refused.status_code == 403
    assert "quality.view_ban" in refused.json()["detail"]


@pytest.mark.every_engine
def test_lists_of_staff_ask_the_same_few_questions_however_long(
    api_of, task, django_assert_max_num_queries, who
):
    for n in range(6):
        made = make_submission(task, **who, system=f"S{n}", state="ANNOTATING")
        make_evaluation(made, n=1)
    api = api_of("staff")
    for path in ("/campaigns/", "/workers/", "/bans/"):
        api.get(path)
        with django_assert_max_num_queries(12):
            assert api.get(path).status_code == 200
