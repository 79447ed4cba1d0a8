"""A database that another process has locked: reading goes on, and writing says when."""

import gc
import sqlite3
from contextlib import closing, contextmanager
from threading import Event, Thread
from types import SimpleNamespace

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command, get_commands
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.urls import reverse

from genie.accounts.models import AccessToken
from genie.lib.database import BUSY, best_effort
from genie.upkeep.engines import working_copy
from leaderboard.models import Team
from tests.factories import make_task, make_team, make_user, signed_in
from tests.leaderboard.api.conftest import authorization

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite locks as a whole"),
]


def wait():
    with connection.cursor() as cursor:
        return cursor.execute("PRAGMA busy_timeout").fetchone()[0]


@contextmanager
def locked():
    """Hold the one lock of writers, as a long study did."""
    path = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.fixture
def impatient():
    """Let requests wait a moment only for a lock, which is 20 seconds otherwise."""
    connection.ensure_connection()
    options = connection.settings_dict["OPTIONS"]
    usual = options["timeout"]
    connection.close()
    options["timeout"] = 0.1
    yield
    connection.close()
    options["timeout"] = usual


def test_a_writer_that_collects_garbage_of_a_waiting_thread_does_not_block_it():
    """Both waited for each other: SQLite's mutex against the lock, for 20 seconds."""
    make_user("ada")
    began, troubles = Event(), []

    def write_while_locked():
        try:
            knot = SimpleNamespace(cursor=connection.cursor().cursor)
            knot.cursor.execute("VALUES (1), (2)")
            knot.itself = knot
            del knot  # its cursor is garbage, and only the collector finds that
            began.set()
            get_user_model().own.update(first_name="Ada")
        except OperationalError as error:
            troubles.append(error)
        finally:
            connection.close()

    gc.disable()
    try:
        other = Thread(target=write_while_locked)
        with transaction.atomic():
            other.start()
            began.wait(20)
            other.join(0.5)  # it waits for the lock by now
            gc.collect()
        other.join()
    finally:
        gc.enable()
    assert troubles == []
    assert get_user_model().own.get().first_name == "Ada"


@pytest.mark.every_engine
def test_reading_with_a_token_needs_no_write():
    make_task()
    ada, ben = make_user("ada"), make_user("ben")
    headers = [authorization(user) for user in (ada, ben)]
    with locked():
        before = wait()
        for one in headers:
            answer = Client().get("/api/v1/whoami/", headers=one)
            assert answer.status_code == 200
            assert Client().get("/api/v1/tasks/", headers=one).status_code == 200
        assert wait() == before
    assert not AccessToken.objects.exclude(last_used_at=None).exists()
    Client().get("/api/v1/whoami/", headers=headers[0])
    assert AccessToken.objects.exclude(last_used_at=None).get().user == ada


@pytest.mark.every_engine
def test_pages_of_accounts_are_read_while_it_is_locked(settings):
    settings.USERSESSIONS_TRACK_ACTIVITY = True
    client = signed_in(make_user("ada"))
    with locked():
        assert client.get("/submissions/").status_code == 200


@pytest.mark.every_engine
def test_writing_says_that_it_is_busy_and_when_to_try_again(impatient):
    make_task()
    ada = make_user("ada")
    headers = authorization(ada)
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    with locked():
        file = SimpleUploadedFile("p.json", b'{"i0": "a", "i1": "b", "i2": "c"}')
        data = {"task": "tidy-news", "system_name": "Kite", "file": file}
        api = client.post("/api/v1/submissions/", data, headers=headers)
        page = client.post(reverse("leaderboard:teams"), {"name": "Kite"})
    for answer in (api, page):
        assert answer.status_code == 503
        assert int(answer["Retry-After"]) > 0
        assert BUSY[:20] in answer.text


@pytest.mark.every_engine
def test_a_dropped_write_leaves_the_connection_as_it_was():
    make_user("ada")
    with locked():
        best_effort(lambda: get_user_model().own.update(first_name="Ada"))
        with pytest.raises(OperationalError, match="locked"):
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA busy_timeout = 10")
            get_user_model().own.update(first_name="Ada")
    connection.close()
    assert not get_user_model().objects.filter(first_name="Ada").exists()


@pytest.mark.every_engine
def test_a_study_reads_and_writes_a_copy_of_the_database():
    make_team("Kites", make_user("ada"))
    name = connection.settings_dict["NAME"]
    with locked(), working_copy():
        assert Team.own.count() == 1
        Team.objects.create(slug="wrens", name="Wrens")
        copy = connection.settings_dict["NAME"]
        assert copy != name
    assert connection.settings_dict["NAME"] == name
    assert [team.name for team in Team.own] == ["Kites"]
    assert not copy.exists()


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("name", "computes", "prints", "words"),
    [
        ("separability", "Command._study", ["as_table", "asdict"], ["demo-qa"]),
        ("compare_crowds", "_of_task", [], ["tidy-news"]),
    ],
)
def test_studies_lock_nobody_out(monkeypatch, name, computes, prints, words):
    commands = f"{get_commands()[name]}.management.commands"
    used = []
    monkeypatch.setattr(
        f"{commands}.{name}.{computes}",
        lambda *_, **__: used.append(connection.settings_dict["NAME"]) or [],
    )
    for one in prints:
        monkeypatch.setattr(f"{commands}.{name}.{one}", lambda *_: "")
    call_command(name, *words)
    assert used
    assert connection.settings_dict["NAME"] not in used
