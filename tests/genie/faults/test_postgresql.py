"""A PostgreSQL of its own that is stopped, crashes and fills its disk while people work.

What was answered is there with what it pays, once each, or not at all; and it goes on.
"""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from threading import Semaphore

import pytest
from django.db import DatabaseError, close_old_connections, connection, connections
from django.test import Client

from benchmarks.throwaway_postgres import programs, running
from crowd.models import Assignment, LedgerEntry, Rating
from genie.lib.database import (
    NOT_RESPONDING,
    NOT_STORING,
    database_is_down,
    disk_is_full,
    unavailable,
)
from tests.crowd.making import do_one, make_campaign, make_worker, send_in
from tests.factories import make_user

pytestmark = [
    pytest.mark.every_engine,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL"),
]
_number = count(1)


@pytest.fixture(scope="module")
def server(django_db_setup):
    """Run a server that these tests may ruin, with the tables of the tests' own."""
    with running("fsync=off", "full_page_writes=off", "jit=off") as one:
        folder, ours = programs(), connection.settings_dict
        dump = [folder / "pg_dump", "-h", ours["HOST"], "-U", "genie", ours["NAME"]]
        there = [folder / "psql", "-q", "-h", one.folder, "-U", "genie", "postgres"]
        made = subprocess.run(dump, check=True, capture_output=True)
        subprocess.run(there, input=made.stdout, check=True, stdout=subprocess.DEVNULL)
        yield one


@contextmanager
def database_there(server, tablespace=""):
    """Use a new database on that server, in all threads."""
    name = f"of_a_test_{next(_number)}"
    where = f" tablespace {tablespace}" if tablespace else ""
    sql = f"create database {name} template postgres strategy file_copy{where}"
    _as_owner(server, sql, of="template1")
    ours = connection.settings_dict
    before = {key: ours[key] for key in ("HOST", "NAME")}
    connection.close()
    ours.update(HOST=str(server.folder), NAME=name)
    try:
        yield
    finally:
        connection.close()
        ours.update(before)
        _as_owner(server, f"drop database {name} with (force)", of="template1")


def _as_owner(server, sql, of="postgres"):
    import psycopg

    where = {"host": str(server.folder), "user": "genie", "dbname": of}
    with psycopg.connect(autocommit=True, **where) as there:
        there.execute(sql)


def finish(n):
    """Let everybody send in what they hold; then all is answered and paid once."""
    for held in Assignment.own.filter(state=Assignment.State.ACCEPTED):
        send_in(held)
    while do_one(make_worker()):
        pass
    submitted = Assignment.own.filter(state=Assignment.State.SUBMITTED)
    assert Rating.own.count() == submitted.count() == n
    assert LedgerEntry.objects.filter(assignment__in=submitted).count() == n
    assert LedgerEntry.own.count() == n


def test_a_server_that_is_stopped_and_one_that_crashes_in_mid_flight(server):
    n = 24
    with database_there(server):
        make_campaign(n)
        workers = [make_worker(user=make_user(f"w{i}")) for i in range(3)]
        done, errors = Semaphore(0), []

        def work(worker):
            try:
                while True:
                    try:
                        if do_one(worker) is None:
                            return
                    except DatabaseError as error:
                        errors.append((database_is_down(error), error))
                        connection.close()
                    done.release()
            finally:
                done.release(n)  # whoever waits has waited enough
                connection.close()

        with ThreadPoolExecutor(3) as pool:
            at_work = [pool.submit(work, worker) for worker in workers]
            for how in ("fast", "immediate"):
                for _ in range(4):
                    done.acquire()
                server.control("restart", "-m", how)
            for one in at_work:
                one.result()
        assert all(down for down, _ in errors), errors
        connection.close()
        finish(n)


def test_pages_say_that_the_server_is_away_and_are_back_with_it(server):
    client = Client(raise_request_exception=False)
    with database_there(server):
        assert client.get("/").status_code == 200
        server.control("stop", "-m", "fast")
        try:
            close_old_connections()
            away = client.get("/tasks/")
            ready = client.get("/readyz")
        finally:
            server.control("start")
        assert (away.status_code, away.headers["Retry-After"]) == (503, "30")
        assert NOT_RESPONDING[:30] in away.text
        assert (ready.status_code, ready.json()["database"]) == (503, "down")
        close_old_connections()
        assert client.get("/tasks/").status_code == 200


@pytest.fixture
def small_tablespace(server, tmp_path):
    folder = server.folder / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
    if (
        not shutil.which("mount")
        or subprocess.run(mount, capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    try:
        inside = folder / "tables"
        inside.mkdir()
        shutil.chown(inside, "postgres")
        _as_owner(server, f"create tablespace small location '{inside}'")
        yield folder / "filler"
        _as_owner(server, "drop tablespace small")
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(filler):
    with pytest.raises(OSError, match="No space"), filler.open("wb") as file:
        while True:
            file.write(bytes(1 << 16))
            file.flush()


def test_a_full_disk_loses_nothing_and_is_named(server, small_tablespace):
    n = 60
    with database_there(server, tablespace="small"):
        make_campaign(n)
        worker = make_worker(user=make_user("wanda"))
        fill(small_tablespace)
        with pytest.raises(DatabaseError) as caught:
            while do_one(worker, remark="word " * 390):
                pass
        assert disk_is_full(caught.value)
        assert unavailable(caught.value) == NOT_STORING
        submitted = Assignment.own.filter(state=Assignment.State.SUBMITTED).count()
        assert submitted < n
        assert Rating.own.count() == LedgerEntry.own.count() == submitted
        small_tablespace.unlink()
        finish(n)
        connections.close_all()
