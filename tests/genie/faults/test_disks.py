"""Disks that are full or read-only: nothing is lost, and people are told in words.

The uploads lie on a real file system of one megabyte, where mounting one is allowed.
"""

import shutil
import subprocess
from contextlib import contextmanager, suppress

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.test import Client

from crowd.models import Assignment, LedgerEntry, Rating
from genie.lib.database import NOT_STORING, disk_is_full
from genie.lib.serving.caches import SharedFiles
from genie.upkeep.archive import BackupProblem
from genie.upkeep.backup import backup
from leaderboard.models import Submission
from tests.crowd.making import do_one, make_campaign, make_worker, send_in
from tests.factories import make_task, make_user
from tests.leaderboard.api.conftest import authorization

MEGABYTE = 1 << 20


@pytest.fixture
def small_disk(tmp_path, settings):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTE}", "tmpfs", str(folder)]
    if (
        not shutil.which("mount")
        or subprocess.run(mount, capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    settings.MEDIA_ROOT = folder / "media"
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def api(db):
    make_task()
    headers = authorization(make_user("ada"))
    client = Client(raise_request_exception=False)

    def submit(content='{"i0": "a", "i1": "b", "i2": "c"}'):
        file = SimpleUploadedFile("predictions.json", content.encode())
        data = {"task": "tidy-news", "system_name": "Kite", "file": file}
        return client.post("/api/v1/submissions/", data, headers=headers)

    return submit


def fill(folder):
    with (
        pytest.raises(OSError, match="No space"),
        (folder / "filler").open("wb") as file,
    ):
        while True:
            file.write(bytes(1 << 16))
            file.flush()


def set_read_only(folder, *, on):
    words = f"remount,{'ro' if on else 'rw'}"
    subprocess.run(["mount", "-o", words, str(folder)], check=True)


def refused(answer):
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "30"
    assert answer.json()["code"] == "unavailable"
    assert answer.json()["detail"].startswith(NOT_STORING)
    assert not Submission.own.exists()


def test_an_upload_that_the_full_disk_does_not_take_is_not_half_there(small_disk, api):
    fill(small_disk)
    refused(api("x" * 50_000))
    assert [p for p in small_disk.rglob("*") if p.is_file()] == [small_disk / "filler"]
    (small_disk / "filler").unlink()
    assert api().status_code == 201
    with Submission.own.get().file.open() as file:
        assert file.read()


def test_an_upload_to_a_read_only_disk_is_refused_in_words(small_disk, api):
    set_read_only(small_disk, on=True)
    refused(api())
    set_read_only(small_disk, on=False)
    assert api().status_code == 201


def test_a_cache_on_a_full_disk_costs_time_only(small_disk):
    cache = SharedFiles(str(small_disk / "cache"), {})
    cache.set("a", "kept")
    fill(small_disk)
    cache.set("b", "x" * 100_000)
    assert cache.get("b") is None
    assert cache.get("a") == "kept"


@pytest.mark.django_db(transaction=True)
def test_a_backup_that_does_not_fit_leaves_nothing_and_says_so(small_disk):
    fill(small_disk)
    with pytest.raises(BackupProblem, match=r"cannot be|pg_dump failed"):
        backup(small_disk / "site", with_key=False, say=lambda _: None)
    assert list(small_disk.iterdir()) == [small_disk / "filler"]


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_answers_that_the_full_database_does_not_take_can_be_sent_again():
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no limit for one database")
    n = 60
    make_campaign(n)
    worker = make_worker(user=make_user("wanda"))
    with database_that_is_full(), pytest.raises(OperationalError) as caught:
        while do_one(worker):
            pass
    assert disk_is_full(caught.value)
    done = Assignment.own.filter(state=Assignment.State.SUBMITTED).count()
    assert done < n
    assert Rating.own.count() == LedgerEntry.own.count() == done
    if waiting := Assignment.own.filter(state=Assignment.State.ACCEPTED).first():
        send_in(waiting)
    while do_one(worker):
        pass
    assert Rating.own.count() == LedgerEntry.own.count() == n


@contextmanager
def database_that_is_full():
    with connection.cursor() as cursor:
        n_pages = cursor.execute("pragma page_count").fetchone()[0]
        free = cursor.execute("pragma freelist_count").fetchone()[0]
        cursor.execute(f"pragma max_page_count = {n_pages + 1}")
        cursor.execute("create table padding (a blob)")
        with suppress(OperationalError):
            for _ in range(free):
                cursor.execute("insert into padding values (zeroblob(4000))")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("pragma max_page_count = 1073741823")
            cursor.execute("drop table padding")
