"""What monitors and visitors are told while something is off."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from django_q.models import Schedule

from genie.lib import jobs
from genie.lib.database import database_is_down
from genie.lib.jobs import Periodic
from genie.schedules import SCHEDULES

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import django, json, os
django.setup()
from django.test import Client
client = Client(raise_request_exception=False, headers=json.loads(os.environ["HEADERS"]))
client.cookies["sessionid"] = "a" * 32
answers = {}
for path in os.environ["PATHS"].split():
    answer = client.get(path)
    body = answer.content.decode()
    answers[path] = [answer.status_code, dict(answer.headers), body]
if "SIGNED" in os.environ:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    kind = "application/x-amz-json-1.1"
    headers = {"X-Amz-Target": "none", "Content-Type": kind, "Host": "genie.example"}
    call = AWSRequest("POST", os.environ["SIGNED"], data=b"{}", headers=headers)
    signer = SigV4Auth(Credentials("A" * 20, "s"), "mturk-requester", "us-east-1")
    signer.add_auth(call)
    path = os.environ["SIGNED"].removeprefix("http://genie.example")
    answer = client.post(path, b"{}", content_type=kind, headers=dict(call.headers))
    answers[path] = [answer.status_code, dict(answer.headers), answer.content.decode()]
print(json.dumps(answers))
"""


def ask(paths, tmp_path, headers=None, **env):
    """Get pages of a site in a process of its own, with these settings."""
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=ROOT,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("GENIE_")},
            "DJANGO_SETTINGS_MODULE": "genie.settings",
            "GENIE_VAR": str(tmp_path),
            "GENIE_SECRET_KEY": "x" * 50,
            "GENIE_HOSTS": "genie.example",
            "PATHS": " ".join(paths),
            "HEADERS": json.dumps(headers or {"host": "genie.example"}),
            **env,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout), done.stderr


PAGES = ["/", "/tasks/", "/nowhere/", "/login/", "/admin/", "/work/"]
CALLS = ["/api/v1/tasks/", "/api/v1/submissions/"]


@pytest.fixture(
    scope="module",
    params=["postgres://genie:hush@127.0.0.1:9/genie", "sqlite:////gone/x"],
)
def without_database(request, tmp_path_factory):
    return ask(
        [*PAGES, *CALLS, "/healthz", "/readyz"],
        tmp_path_factory.mktemp("var"),
        DATABASE_URL=request.param,
        SIGNED="http://genie.example/turk/",
    )


@pytest.mark.slow
def test_while_the_database_is_away_all_say_503_and_until_when(without_database):
    answers, log = without_database
    for path in [*PAGES, *CALLS]:
        status, headers, body = answers[path]
        assert (path, status, headers["Retry-After"]) == (path, 503, "30")
        assert "hush" not in body
        if path in CALLS:
            assert headers["Content-Type"] == "application/problem+json"
            assert json.loads(body)["code"] == "unavailable"
        else:
            assert "not available right now" in body
            assert headers["Content-Type"].startswith("text/html")
    assert "Traceback" not in log
    assert "connection" in log or "unable to open" in log
    status, _headers, body = answers["/turk/"]
    assert status == 503
    assert json.loads(body)["__type"] == "ServiceFault"
    assert answers["/healthz"][0] == 200
    status, headers, body = answers["/readyz"]
    assert (status, headers["Retry-After"]) == (503, "30")
    assert json.loads(body) == {
        "ready": False,
        "database": "down",
        "migrations": "unknown",
        "queue": "unknown",
        "disk": "ok",
        "mail": "ok",
    }


@pytest.mark.slow
def test_a_probe_by_ip_address_is_answered_without_a_redirect_to_https(tmp_path):
    answers, log = ask(
        ["/healthz", "/readyz"],
        tmp_path,
        headers={"host": "10.0.0.7:8000"},
        GENIE_PRODUCTION="yes",
        DATABASE_URL="",
    )
    assert answers["/healthz"][0] == 200
    assert answers["/readyz"][0] == 503
    assert json.loads(answers["/readyz"][2])["migrations"] == "missing"
    assert "10.0.0.7" not in log


@pytest.mark.slow
def test_a_page_under_a_host_that_is_not_ours_is_one_line_of_the_log(tmp_path):
    answers, log = ask(["/"], tmp_path, headers={"host": "10.0.0.7"}, DATABASE_URL="")
    assert answers["/"][0] == 400
    assert len(log.splitlines()) == 1
    assert "ALLOWED_HOSTS" in log


class TestReadiness:
    def ask(self):
        answer = Client().get("/readyz")
        return answer.status_code, answer.json()["queue"]

    def test_a_site_whose_queue_never_ran_is_not_ready(self):
        assert self.ask() == (503, "not started")

    def test_a_site_whose_queue_runs_is_ready(self):
        jobs.install(SCHEDULES)
        assert self.ask() == (200, "ok")

    def test_a_queue_that_stopped_is_noticed_after_five_minutes(self):
        jobs.install([Periodic("a", "genie.lib.jobs.forget_old", 1)])
        Schedule.objects.update(next_run=timezone.now() - timedelta(minutes=4))
        assert self.ask() == (200, "ok")
        Schedule.objects.update(
            next_run=timezone.now() - timedelta(minutes=5, seconds=1)
        )
        assert self.ask() == (503, "late")


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_an_error_of_a_database_that_answers_is_still_our_mistake():
    with pytest.raises(Exception, match="no_such_table") as caught:
        connection.cursor().execute("SELECT * FROM no_such_table")
    assert not database_is_down(caught.value)
    assert not database_is_down(ValueError())
