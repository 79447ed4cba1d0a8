"""Clocks that jump, mail servers and webhooks that hang, sessions that the database ends."""

import socket
import threading
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from http.client import HTTPException
from pathlib import Path
from unittest import mock

import pytest
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.test import Client
from django.utils import timezone
from django_q.models import OrmQ, Schedule

from crowd.models import LedgerEntry, Rating
from genie.accounts.mail import settings_for
from genie.lib import jobs, outbound
from genie.lib.database import database_is_down
from genie.lib.serving import mail_server
from genie.schedules import SCHEDULES
from genie.upkeep.examinations import mail
from tests.crowd.making import do_one, make_campaign, make_worker
from tests.factories import make_user


@contextmanager
def clock(ahead: timedelta):
    now = timezone.now
    with mock.patch("django.utils.timezone.now", side_effect=lambda: now() + ahead):
        yield


@pytest.fixture
def silent_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def accept():
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=accept)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
        for one in held:
            one.close()


@pytest.mark.every_engine
def test_a_clock_that_was_ahead_stops_no_job_once_it_is_right_again():
    with clock(timedelta(days=3)):
        jobs.install(SCHEDULES)
        jobs.enqueue("genie.lib.jobs.forget_old", days=1)
    assert not jobs.run_next()  # it would wait for three days
    assert jobs.undo_clock_jump() == len(SCHEDULES) + 1
    assert Schedule.objects.filter(next_run__lte=timezone.now()).count() == len(
        SCHEDULES
    )
    assert jobs.run_next()
    assert jobs.undo_clock_jump() == 0


def test_a_right_clock_is_left_alone_and_so_are_claims():
    jobs.install(SCHEDULES)
    jobs.enqueue("genie.lib.jobs.forget_old", days=1)
    until = timezone.now() + timedelta(minutes=10, seconds=1)
    OrmQ.objects.update(lock=until)
    daily = timezone.now() + timedelta(days=1)
    Schedule.objects.filter(name="forget old failures").update(next_run=daily)
    assert jobs.undo_clock_jump() == 0
    assert OrmQ.objects.get().lock == until


@pytest.mark.every_engine
def test_answers_count_and_pay_once_whatever_the_clock_does():
    make_campaign(3)
    worker = make_worker(user=make_user("wanda"))
    for ahead in (timedelta(0), timedelta(days=1), timedelta(days=-1)):
        with clock(ahead):
            assert do_one(worker) is not None
    assert Rating.own.count() == LedgerEntry.own.count() == 3


def test_a_mail_server_that_hangs_is_given_up(settings, silent_server, monkeypatch):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", silent_server
    settings.EMAIL_TIMEOUT = 0.2
    start = time.monotonic()
    with pytest.raises(OSError, match="timed out"):
        send_mail("Subject", "text", None, ["ada@example.org"])
    monkeypatch.setattr(mail_server, "SECONDS", 0.2)
    finding = mail()
    assert finding.verdict == "problem"
    assert "127.0.0.1 does not accept mail" in finding.sentence
    print(f"\na silent mail server was given up in {time.monotonic() - start:.1f} s")
    assert time.monotonic() - start < 5
    assert settings_for("smtp://mail.example", Path("mail"))["EMAIL_TIMEOUT"] <= 20


def test_readiness_never_waits_for_a_mail_server(settings, silent_server, monkeypatch):
    monkeypatch.setattr(mail_server, "watched", mail_server.Watched())
    monkeypatch.setattr(mail_server, "SECONDS", 0.2)
    asked = []
    monkeypatch.setattr(
        mail_server,
        "trouble",
        lambda s, ask=mail_server.trouble: asked.append(s) or ask(s),
    )

    def mail_of_readiness():
        answer = Client().get("/readyz").json()
        assert answer["queue"] == "not started"
        return answer["mail"]

    assert mail_of_readiness() == "ok"  # there is none
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", silent_server
    assert mail_of_readiness() == "unknown"
    mail_server.watched.thread.join()
    assert [mail_of_readiness() for _ in range(3)] == ["unreachable"] * 3
    assert asked == [0.2]
    with mock.patch("time.monotonic", return_value=time.monotonic() + 61):
        assert mail_of_readiness() == "unreachable"
    mail_server.watched.thread.join()
    assert len(asked) == 2


def test_who_signs_up_while_no_mail_leaves_is_told(settings, silent_server, mailoutbox):
    client = Client(raise_request_exception=False)
    form = {"username": "ada", "email": "ada@example.org"}
    secret = "a long enough secret"
    working = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", silent_server
    settings.EMAIL_TIMEOUT = 0.2
    path = "/account/signup/"
    answer = client.post(path, {**form, "password1": secret, "password2": secret})
    assert answer.status_code == 503
    assert "mail server is not responding" in answer.text
    settings.EMAIL_BACKEND = working
    cache.clear()  # a few minutes later: one such e-mail is sent in three
    client.post("/login/", {"login": "ada", "password": secret})
    assert [one.to for one in mailoutbox] == [["ada@example.org"]]


def test_a_webhook_s_server_that_hangs_is_given_up(silent_server, monkeypatch):
    monkeypatch.setattr(outbound, "TIMEOUT_SECONDS", 0.2)
    start = time.monotonic()
    url = f"http://127.0.0.1:{silent_server}/"
    with pytest.raises(OSError, match="timed out"):
        outbound.post(url, b"{}", {}, https_only=False, allow_private=True)
    assert time.monotonic() - start < 5


def test_a_server_that_answers_a_letter_at_a_time_is_given_up(monkeypatch):
    monkeypatch.setattr(outbound, "TOTAL_SECONDS", 0.1)

    def drip(server):
        with server.accept()[0] as one, suppress(OSError):
            for _ in range(60):
                one.sendall(b"H")
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=[server])
        thread.start()
        start = time.monotonic()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with pytest.raises((OSError, HTTPException)):
            outbound.get(url, https_only=False, allow_private=True)
        assert time.monotonic() - start < 2
        thread.join()


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_a_database_that_restarts_in_mid_flight_loses_nothing():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server")
    make_campaign(2)
    worker = make_worker(user=make_user("wanda"))
    client = Client(raise_request_exception=False)
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        do_one(worker)
        end_all_sessions()
        Rating.own.count()
    assert database_is_down(caught.value)
    connection.close()
    assert not Rating.own.exists()  # all of it, or nothing
    assert do_one(worker) is not None
    end_all_sessions()
    close_old_connections()  # as each request begins, outside tests
    assert client.get("/").status_code == 200
    assert Rating.own.count() == LedgerEntry.own.count() == 1


def end_all_sessions():
    """Do to this database's sessions what a restart of the server does."""
    asked = {**connection.get_connection_params(), "cursor_factory": None}
    asked = {
        k: v for k, v in asked.items() if k in {"host", "port", "user", "password"}
    }
    import psycopg

    with psycopg.connect(dbname="postgres", autocommit=True, **asked) as server:
        server.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
            [connection.settings_dict["NAME"]],
        )
