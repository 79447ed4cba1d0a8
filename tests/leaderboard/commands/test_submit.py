"""`submit`: what it prints, how it ends, what it leaves behind."""

import json
import os
import subprocess
import sys

import pytest

from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.metric_runs import services
from leaderboard.models import Submission
from leaderboard.tasks.shipped import folder
from tests.factories import make_task
from tests.leaderboard.bad_files import GOOD
from tests.shared import put_migrated_sqlite

State = Submission.State
KEYS = {"id", "state", "task", "system", "metrics", "errors", "warnings"}


@pytest.fixture
def task(nina):
    return make_task("tidy-news")


@pytest.fixture
def hand_in(run, task, tmp_path):
    def hand_in(content=None, *, name="predictions.json", **options):
        path = tmp_path / name
        path.write_bytes(json.dumps(GOOD).encode() if content is None else content)
        options = {"system": "Kite", "owner": "nina", **options}
        return run("submit", "tidy-news", str(path), **options)

    return hand_in


def test_without_wait_the_submission_is_taken_and_left_to_the_queue(hand_in):
    found = hand_in(json=True)
    assert found.returncode == 0
    assert found.json["state"] == "RECEIVED"
    assert found.json["metrics"] == {}
    pk = found.json["id"]
    assert jobs.queued_jobs() == {("leaderboard.jobs.validate", (("pk", pk),))}


def test_with_wait_the_numbers_come_out(hand_in):
    found = hand_in(wait=True, json=True)
    assert found.returncode == 0
    assert found.json.keys() == KEYS
    assert found.json["state"] == "MEASURED"
    assert (found.json["task"], found.json["system"]) == ("tidy-news", "Kite")
    assert found.json["metrics"].keys() == {"sacrebleu", "chrf", "rougeL", "length"}
    assert all(isinstance(v, float) for v in found.json["metrics"].values())
    assert found.json["errors"] == []
    assert jobs.n_waiting() == 0

    # progress goes to standard error only
    assert len(found.out.strip().split("\n")) == 1
    told = found.err.strip().split("\n")
    assert told[0].startswith("Received predictions.json")
    assert len(told) == 3  # received, checked, measured: each line once
    assert "metrics computed" in told[2]


def test_people_read_a_table(hand_in):
    found = hand_in(wait=True)
    assert found.out.startswith("Submission ")
    assert "MEASURED" in found.out
    value = Submission.own.get().metric_results.get(metric="chrf").value
    assert f"{value:.2f}" in found.out


def test_a_bad_file_cannot_write_to_the_terminal(hand_in):
    content = json.dumps({**GOOD, "\x1b[31mred\x1b[0m\u202e": "x"}).encode()
    found = hand_in(content, wait=True)
    assert found.returncode == 1
    assert not {"\x1b", "\u202e"} & set(found.out + found.err + found.refusal)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"owner": "nobody"}, "unknown-user"),
        ({"team": "no-such-team"}, "unknown-team"),
        ({"system": "two\nlines"}, "bad-name"),
        ({"links": ["ftp://old.example/"]}, "bad-link"),
        ({"content": b""}, "empty-file"),
    ],
)
def test_a_refusal_is_one_json_object_too(hand_in, options, code):
    found = hand_in(json=True, wait=True, **options)
    assert found.returncode == 1
    assert found.json.keys() == KEYS
    assert (found.json["id"], found.json["state"]) == (None, "REFUSED")
    assert [error["code"] for error in found.json["errors"]] == [code]
    assert not Submission.own.exists()


def test_a_task_or_a_file_that_is_not_there_is_named(run, task, tmp_path):
    gone = str(tmp_path / "gone.json")
    for slug, path, code in (
        ("no-task", gone, "unknown-task"),
        ("tidy-news", str(tmp_path), "unreadable-file"),
        ("tidy-news", gone, "unreadable-file"),
    ):
        found = run("submit", slug, path, system="K", owner="nina", json=True)
        assert found.json["errors"][0]["code"] == code
    assert gone in found.refusal


def test_all_that_the_form_asks_can_be_said(hand_in):
    hand_in(
        private=True,
        description="Beam search.",
        links=["https://heron.example/"],
        anonymous_until="2099-01-01",
    )
    submission = Submission.own.get()
    assert submission.visibility == Submission.Visibility.PRIVATE
    assert submission.description == "Beam search."
    assert submission.links == ["https://heron.example/"]
    assert str(submission.anonymous_until) == "2099-01-01"


@pytest.mark.parametrize(
    ("n_failures", "n_calls", "state", "codes"),
    [(1, 2, "MEASURED", []), (9, 3, "VALID", ["step-failed"])],
)
def test_a_step_that_stumbles_is_tried_three_times(
    hand_in, monkeypatch, n_failures, n_calls, state, codes
):
    calls = []
    real = services.preflight

    def stumbles(*args, **kwargs):
        calls.append(1)
        if len(calls) <= n_failures:
            raise OSError("the disk blinked")
        return real(*args, **kwargs)

    monkeypatch.setattr(services, "preflight", stumbles)
    found = hand_in(wait=True, json=True)
    assert found.returncode == bool(codes)
    assert found.json["state"] == state
    assert len(calls) == n_calls
    assert [error["code"] for error in found.json["errors"]] == codes


def test_a_step_that_fails_for_good_is_said(hand_in, monkeypatch):
    def fails(*_args, **_kwargs):
        raise GenieError("The metric has no model.", code="no-model")

    monkeypatch.setattr(services, "preflight", fails)
    found = hand_in(wait=True, json=True)
    assert found.returncode == 1
    assert found.json["state"] == "VALID"
    error = found.json["errors"][0]
    assert error["code"] == "step-failed"
    assert "The metric has no model." in error["message"]


def test_the_wait_ends_when_its_time_is_over(hand_in, monkeypatch):
    # as when another process holds the job and does not answer
    monkeypatch.setattr(jobs, "run_next", lambda: False)
    found = hand_in(wait=True, json=True, timeout=0.1)
    assert found.returncode == 1
    assert found.json["state"] == "RECEIVED"
    assert found.json["errors"][0]["code"] == "timed-out"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_as_a_real_process_only_the_object_is_on_standard_output(tmp_path):
    env = {
        **os.environ,
        "GENIE_VAR": str(tmp_path),
        "GENIE_SECRET_KEY": "process",
        "DJANGO_SETTINGS_MODULE": "genie.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path}/genie.sqlite3",
    }

    def manage(*args):
        return subprocess.run(
            [sys.executable, "manage.py", *args],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    put_migrated_sqlite(tmp_path / "genie.sqlite3")
    who = ("--username", "nina", "--email", "n@x.example")
    made = manage("createsuperuser", "--noinput", *who)
    assert made.returncode == 0, made.stderr
    assert manage("load_task", "demo-qa").returncode == 0
    system = sorted((folder("demo-qa") / "systems").glob("*.json"))[0]
    options = ("--system", "Kite", "--owner", "nina", "--wait", "--json")
    found = manage("submit", "demo-qa", str(system), *options)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["state"] == "MEASURED"
    assert "metrics computed" in found.stderr
