"""What logs, mails and the page for staff say of a site."""

import json
import logging
from datetime import datetime, timedelta

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from django_q.models import Failure, OrmQ, Schedule

from genie.lib import jobs, logs
from genie.lib.env import ConfigurationError
from genie.lib.log_config import to_console
from genie.schedules import SCHEDULES
from genie.upkeep import alerts
from genie.upkeep.contacts import as_address
from tests.factories import make_user, signed_in


@pytest.fixture
def running(db):
    jobs.install(SCHEDULES)


def set_genie(settings, **values):
    settings.GENIE = {**settings.GENIE, **values}


def logged(message: str, **more) -> dict:
    record = logging.makeLogRecord({"msg": message, "levelname": "INFO", **more})
    line = logs.JsonFormatter().format(record)
    assert len(line.splitlines()) == 1
    return json.loads(line)


def test_lines_of_json_name_the_request_or_the_job():
    with logs.about(request="12345678"):
        assert logged("a\nb\u2028\u202ec")["request"] == "12345678"
        assert logged("a\nb\u2028\u202ec")["message"] == "a\nb\u2028\u202ec"
    assert "request" not in logged("later")
    try:
        raise ValueError("wrong")
    except ValueError as error:
        told = (type(error), error, error.__traceback__)
        assert "ValueError: wrong" in logged("x", exc_info=told)["traceback"]
    assert to_console("INFO", "json")["handlers"]["console"]["formatter"] == "json"
    with pytest.raises(ConfigurationError):
        to_console("INFO", "xml")


def test_a_failing_job_logs_its_id(db, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "genie.lib.jobs.forget_old", lambda **_: seen.append(logged("in it"))
    )
    jobs.enqueue("genie.lib.jobs.forget_old", days=1)
    jobs.drain()
    assert len(seen[0]["job"]) == 32
    assert seen[0]["func"] == "genie.lib.jobs.forget_old"


def test_answers_carry_the_number_of_their_request():
    def number(given):
        return Client().get("/healthz", headers={"X-Request-ID": given})["X-Request-ID"]

    assert number("from-the-proxy-1") == "from-the-proxy-1"
    for forged in ("short", "a" * 65, 'quote"and space'):
        assert number(forged) != forged
        assert len(number(forged)) == 32


def test_trouble_is_mailed_once_and_so_is_its_end(running, settings):
    cache.clear()
    alerts.look()
    assert mail.outbox == []  # nobody is named
    set_genie(settings, ALERTS=["ops@example.org"])
    alerts.look()
    assert mail.outbox == []  # nothing is wrong
    now = timezone.now()
    Failure.objects.create(
        id="a", name="a", func="f", started=now, stopped=now, success=False
    )
    alerts.look()
    alerts.look()
    assert [m.subject for m in mail.outbox] == ["[Genie] Trouble: queue"]
    assert "failed in the last day: 1" in mail.outbox[0].body
    assert mail.outbox[0].to == ["ops@example.org"]
    Failure.objects.all().delete()
    alerts.look()
    assert "over: queue" in mail.outbox[1].body


def test_mail_that_was_not_sent_is_sent_next_time(running, settings, monkeypatch):
    cache.clear()
    set_genie(settings, ALERTS=["ops@example.org"])
    Schedule.objects.update(next_run=timezone.now() - timedelta(hours=1))
    with monkeypatch.context() as patch:
        patch.setattr(
            alerts, "send_mail", lambda *_: (_ for _ in ()).throw(OSError("away"))
        )
        with pytest.raises(OSError, match="away"):
            alerts.look()
    alerts.look()
    assert len(mail.outbox) == 1


def test_where_to_report_is_said_once_somebody_answers(settings):
    address = "/.well-known/security.txt"
    assert Client().get(address).status_code == 404
    contacts = [as_address(one) for one in ("a@genie.example", "https://genie.example")]
    set_genie(settings, SECURITY_CONTACT=contacts, SITE_URL="https://genie.example")
    answer = Client().get(address)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    lines = [line.split(": ", 1) for line in answer.text.splitlines()]
    assert [value for name, value in lines if name == "Contact"] == contacts
    fields = dict(lines)
    assert fields["Canonical"] == f"https://genie.example{address}"
    left = datetime.fromisoformat(fields["Expires"]) - timezone.now()
    assert timedelta(days=170) < left < timedelta(days=365)
    for wrong in ("security", "http://a.example", "a@b\nContact: c@d", "mailto:x"):
        with pytest.raises(ConfigurationError, match="GENIE_SECURITY_CONTACT"):
            as_address(wrong)


def test_the_page_shows_findings_and_escapes_what_failed(running):
    now = timezone.now()
    Failure.objects.create(
        id="a" * 32, name="a", func="leaderboard.jobs.advance", started=now,
        stopped=now, success=False, result="<script>alert(1)</script>",
    )  # fmt: skip
    client = signed_in(make_user("boss", is_staff=True, is_superuser=True))
    page = client.get("/admin/status/").text
    assert "reachable and migrated" in page
    assert "failed in the last day: 1" in page
    assert "&lt;script&gt;alert(1)" in page
    client.force_login(make_user("staff", is_staff=True))
    assert client.get("/admin/status/").status_code == 403


def test_everybody_reads_whether_what_they_wait_for_gets_done(db):
    said = Client().get("/status/").text
    assert "Background processing has not started" in said
    jobs.install(SCHEDULES)
    assert "Everything is working." in Client().get("/status/").text
    Schedule.objects.update(next_run=timezone.now() - timedelta(minutes=20))
    jobs.enqueue("genie.lib.jobs.forget_old", days=1)
    answer = Client().get("/status/")
    assert "about <span" in answer.text
    assert ">20</span> minutes late" in answer.text
    assert "1 job waiting" in answer.text
    assert "no-store" in answer["Cache-Control"]
    # nothing of what superusers read: no names of jobs, no addresses, no disk
    for word in ("forget_old", "backup", "GB free", "sqlite"):
        assert word not in answer.text


def test_a_queue_with_old_jobs_says_how_old(running):
    jobs.enqueue("genie.lib.jobs.forget_old", days=1)
    assert jobs.oldest_waiting_seconds() < 60
    OrmQ.objects.update(payload="not ours")
    assert jobs.oldest_waiting_seconds() is None
