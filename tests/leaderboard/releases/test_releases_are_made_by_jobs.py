"""Staff ask for a release, a job makes it, and its archive can be fetched in parts."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.db.models.fields.files import FieldFile
from django_q.models import OrmQ

from genie.accounts.models import PrivateRead, TaskRole
from genie.lib import jobs
from leaderboard import jobs as lb_jobs
from leaderboard.models import Release
from leaderboard.releases import queued
from leaderboard.sharing.selectors import croissant_of
from tests.cast import allow
from tests.factories import make_task

LIST = "/admin/leaderboard/release/"
YES = {"confirmed": "yes", "reason": "Not needed."}


@pytest.fixture
def task():
    return make_task("small")


@pytest.fixture
def done(task):
    row = worked(queued.request(task))
    assert (row.state, row.failure) == ("DONE", "")
    return row


def worked(row, work=queued.work):
    work(row.pk)
    row.refresh_from_db()
    return row


def act(client, action, *rows):
    data = {"action": action, "_selected_action": [row.pk for row in rows], **YES}
    return client.post(LIST, data, follow=True).text


def names_stored():
    return [one.name for one in (Path(settings.MEDIA_ROOT) / "releases").iterdir()]


def body(answer):
    return b"".join(answer.streaming_content)


def fetched(client, row, **headers):
    return client.get(f"{LIST}{row.pk}/download/", headers=headers)


def test_each_release_says_in_croissant_what_it_holds(client_of, client, task):
    address = "/tasks/small/croissant.json"
    assert client.get(address).status_code == 404
    assert croissant_of(task) == ""
    row = worked(queued.request(task), lb_jobs.make_release)
    assert croissant_of(task) == address
    about = client.get(address).json()
    assert "http://mlcommons.org/croissant/1.1" in about["conformsTo"]
    assert row.sha256 in about["description"]
    assert about["license"] == "not stated"
    files = {one["name"]: one for one in about["distribution"]}
    content = body(fetched(client_of("superuser"), row))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        held = {Path(name).name for name in archive.namelist()}
        assert held - set(files) == {"croissant.json", "SHA256SUMS"}
        for name, file in files.items():
            digest = hashlib.sha256(archive.read(f"small/{name}")).hexdigest()
            assert file["sha256"] == digest
            assert file["contentUrl"] == name
        header = archive.read("small/instances.csv").decode().splitlines()[0]
    [table] = [t for t in about["recordSet"] if t["name"] == "instances"]
    assert [field["name"] for field in table["field"]] == header.split(",")
    kinds = {field["name"]: field["dataType"] for field in table["field"]}
    assert (kinds["instance"], kinds["position"]) == ("sc:Text", "sc:Integer")


def test_a_role_on_a_task_fetches_its_releases_alone_and_that_is_written_down(
    client_of, new_staff, done
):
    make_task("other")
    role = Group.objects.create(name="makes releases")
    allow(role, "leaderboard.change_task")
    here = TaskRole.objects.create(user=new_staff, role=role, pool="other")
    client = client_of("new_staff")
    assert done.file_name not in client.get(LIST).text
    assert fetched(client, done).status_code == 404
    assert not PrivateRead.own.exists()
    here.pool = done.task.slug
    here.save()
    assert done.file_name in client.get(LIST).text
    assert hashlib.sha256(body(fetched(client, done))).hexdigest() == done.sha256
    read = PrivateRead.own.get()
    assert (read.by, read.pool) == (new_staff, done.task.slug)
    assert read.what == f"leaderboard.release {done.pk}"


def test_a_task_has_one_release_under_way(task):
    assert queued.request(task) == queued.request(task)


def test_a_cancelled_release_stops_and_can_begin_again(client_of, task, monkeypatch):
    row = queued.request(task)
    make = queued.make

    def cancelled_meanwhile(task, folder, *, tell, **_given):
        made = make(task, folder)
        assert "Cancelled: 1" in act(client_of("superuser"), "cancel_selected", row)
        tell(1, 2)
        return made

    monkeypatch.setattr(queued, "make", cancelled_meanwhile)
    worked(row)
    assert (row.state, row.file.name) == ("CANCELLED", "")

    monkeypatch.setattr(queued, "make", make)
    worked(row)  # its job comes once more: nothing is done
    assert row.state == "CANCELLED"
    assert "Queued again: 1" in act(client_of("superuser"), "retry_selected", row)
    worked(row)
    assert row.state == "DONE"
    assert "Cancelled: 0 of 1" in act(client_of("superuser"), "cancel_selected", row)


def test_a_full_disk_is_told_in_words(client_of, task, monkeypatch):
    def full(*_given, **_named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(queued, "make", full)
    worked(queued.request(task))
    assert "No space left on device" in client_of("superuser").get(LIST).text


def test_only_the_newest_archives_are_kept(
    task, monkeypatch, client_of, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(queued, "KEPT", 1)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):
            queued.work(queued.request(task).pk)
    old, new = Release.objects.order_by("pk")
    assert (old.state, old.file.name) == ("REMOVED", "")
    assert old.sha256
    assert names_stored() == [Path(new.file.name).name]
    with django_capture_on_commit_callbacks(execute=True):
        said = act(client_of("superuser"), "remove_selected", new)
    assert "Archive deleted: 1" in said
    new.refresh_from_db()
    assert (new.state, new.file.name) == ("REMOVED", "")
    assert not names_stored()


def test_a_lost_job_is_queued_again(task):
    queued.request(task)
    OrmQ.objects.all().delete()
    lb_jobs.advance()
    jobs.drain()
    assert Release.objects.get().state == "DONE"
    assert queued.RUNNER.due() == []


def test_who_was_cancelled_does_not_take_the_next_attempt_for_its_own(
    task, monkeypatch
):
    """Cancelled and tried again while a process packs, which asks nobody then."""
    row = queued.request(task)
    pack, packed = queued.pack, []

    def slow(folders, target):
        packed.append(target.parent)
        if len(packed) == 1:
            assert queued.cancel(row)
            assert queued.retry(row)
            worked(row)
            assert (row.state, row.failure) == ("DONE", "")
        pack(folders, target)

    monkeypatch.setattr(queued, "pack", slow)
    queued.work(row.pk)
    again = Release.objects.get()
    assert again.state == "DONE"
    assert again.file.name == row.file.name
    assert len({*packed}) == 2
    assert names_stored() == [Path(again.file.name).name]


def test_an_archive_that_nobody_names_does_not_stay(task, monkeypatch):
    row = queued.request(task)
    store = FieldFile.save

    def killed_then(*given, **named):
        store(*given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FieldFile, "save", killed_then)
        with pytest.raises(KeyboardInterrupt):
            queued.work(row.pk)
    assert len(names_stored()) == 1
    worked(row)
    assert names_stored() == [Path(row.file.name).name]


def test_one_that_was_tried_again_counts_as_new(task, monkeypatch):
    monkeypatch.setattr(queued, "KEPT", 1)
    old = queued.request(task)
    assert queued.cancel(old)
    queued.work(queued.request(task).pk)
    assert queued.retry(old)
    worked(old)
    assert old.state == "DONE"


def test_a_job_whose_task_is_gone_does_nothing(task):
    row = queued.request(task)
    task.delete()
    queued.work(row.pk)
    assert not Release.objects.exists()
