"""A backup that is damaged, foreign or does not fit is refused before anything is written."""

import gzip
import io
import json
import sqlite3
import tarfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from django.conf import settings as site
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection, connections

from genie.lib.unguessable import fingerprint
from genie.upkeep import archive, engines
from genie.upkeep.archive import BackupProblem
from genie.upkeep.backup import backup
from genie.upkeep.restore import mark, restore
from tests.crowd.making import do_one, make_campaign, make_worker
from tests.factories import make_user


def fitting() -> dict:
    return {
        "genie": "0.1.0",
        "made_at": "2026-11-22T00:00:00+00:00",
        "engine": connection.vendor,
        "migrations": [["crowd", "0001_initial"]],
        "keys": {"session": fingerprint(site.SECRET_KEY)},
    }


def written(path: Path, **facts) -> Path:
    with archive.open_writer(path) as new:
        new.add("database", io.BytesIO(b"pages" * 100), 500)
        new.add("media/a/b", io.BytesIO(b"text"), 4)
        new.finish({**fitting(), **facts})
    return path


def refusal(path: Path, **options) -> str:
    with pytest.raises(BackupProblem) as caught:
        restore(
            path,
            **{"replace": False, "other_key": False, **options},
            say=lambda _: None,
        )
    assert not default_storage.exists("a/b")
    assert not mark().exists()
    return caught.value.message


def packed(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content))
    return path


def test_a_file_that_is_cut_short_or_is_something_else(tmp_path):
    whole = written(tmp_path / "whole").read_bytes()
    for n in (0, 10, len(whole) // 2, len(whole) - 200):
        part = tmp_path / f"part-{n}"
        part.write_bytes(whole[:n])
        assert "cannot be read" in refusal(part)
    (tmp_path / "text").write_text("This is a letter.\n" * 90)
    assert "cannot be read" in refusal(tmp_path / "text")
    assert "cannot be read" in refusal(tmp_path / "not there")


def test_one_changed_byte_of_any_member(tmp_path):
    tar = gzip.decompress(written(tmp_path / "whole").read_bytes())
    changed = packed(tmp_path / "changed", tar.replace(b"text", b"test"))
    assert "1 of its files have changed, the first being media/a/b" in refusal(changed)
    without = tar[: tar.index(b"manifest.json")] + bytes(1024)
    assert "list of files is missing" in refusal(packed(tmp_path / "cut", without))


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("/etc/passwd", {}),
        ("../secret-key", {}),
        ("media/../../x", {}),
        ("media/a", {"type": tarfile.SYMTYPE, "linkname": "/etc"}),
    ],
)
def test_a_name_or_link_that_leads_outside(tmp_path, name, fields):
    with tarfile.open(tmp_path / "hostile", "w:gz") as tar:
        member = tarfile.TarInfo(name)
        for field, value in fields.items():
            setattr(member, field, value)
        tar.addfile(member, io.BytesIO())
    assert "not part of a Genie backup" in refusal(tmp_path / "hostile")


def test_another_engine_version_format_or_key(tmp_path, settings):
    settings.MIGRATION_MODULES = {}  # tests themselves do without

    def told(name, **facts):
        return refusal(written(tmp_path / name, **facts))

    assert "was made on oracle" in told("engine", engine="oracle")
    newer = [["leaderboard", "9999_from_the_future"]]
    assert "newer version of Genie" in told("newer", migrations=newer)
    assert "backup format 1" in told("format", format=1)
    assert "session key differs" in told("key", keys={"session": "0" * 16})


def test_a_place_where_something_is(tmp_path):
    assert "a database with tables" in refusal(written(tmp_path / "backup"))


def test_a_backup_never_overwrites_and_leaves_nothing_half_written(tmp_path):
    there = written(tmp_path / "there")
    with pytest.raises(BackupProblem, match="never overwrites"):
        written(there)
    with pytest.raises(RuntimeError), archive.open_writer(tmp_path / "new"):
        raise RuntimeError
    assert list(tmp_path.glob("new*")) == []


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_a_backup_is_for_its_owner_only_and_says_no_secret(tmp_path):
    default_storage.save("submissions/ab/abc", ContentFile(b"[]"))
    path = tmp_path / "site"
    backup(path, with_key=False, say=lambda _: None)
    assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.glob(".genie*")) == []
    manifest = archive.checked_manifest(path)
    assert set(manifest["files"]) == {"database", "media/submissions/ab/abc"}
    assert site.SECRET_KEY.encode() not in gzip.decompress(path.read_bytes())


@pytest.mark.django_db(transaction=True)
def test_a_site_comes_back_from_its_backup(tmp_path, settings, monkeypatch, capsys):
    if connection.vendor != "sqlite":
        pytest.skip("test_backup.py does it with all programs")
    settings.MIGRATION_MODULES, settings.VAR_DIR = {}, tmp_path / "var"
    settings.SECRET_KEY_FALLBACKS = ["former"]
    settings.VAR_DIR.mkdir()
    monkeypatch.delenv("GENIE_SECRET_KEY", raising=False)
    for module in ("backup", "restore"):
        monkeypatch.setattr(f"genie.upkeep.{module}._TELL_EVERY", 2)
    make_user("wanda")
    texts = {f"{folder}/{n}": f"text {n}" for n, folder in enumerate("aabc")}
    for name, text in texts.items():
        default_storage.save(name, ContentFile(text.encode()))
    call_command("backup", tmp_path / "site", "--with-key")
    call_command("backup", tmp_path / "bare", "--json", tmp_path / "facts")
    assert json.loads((tmp_path / "facts").read_text())["bytes"] > 0
    told, told_of_bare = capsys.readouterr().out.split("copying the database")[1:]
    assert "packing uploads: 2\npacking uploads: 4\nuploads packed: 4\n" in told
    assert "does not include the secret key" not in told
    assert f"separately (fingerprint {fingerprint(site.SECRET_KEY)})" in told_of_bare
    place = tmp_path / "site.sqlite3"  # threads of other tests use theirs
    monkeypatch.setattr(engines, "_sqlite_file", lambda: place)
    default_storage.delete("a/0")
    default_storage.delete("b/2")
    default_storage.save("b/2", ContentFile(b"longer than before"))
    with pytest.raises(CommandError, match="a database with tables and uploads"):
        call_command("restore", tmp_path / "site")
    call_command("restore", tmp_path / "site", "--replace")
    told = capsys.readouterr().out
    assert "unpacking uploads: 2\nunpacking uploads: 4\nuploads unpacked: 4;" in told
    assert told.endswith("Restored. Next: genie migrate, then genie doctor.\n")
    with closing(sqlite3.connect(place)) as now:
        found = now.execute("select 1 from auth_user where username = 'wanda'")
        assert found.fetchall() == [(1,)]
    paths = {name: Path(default_storage.path(name)) for name in texts}
    found = {name: path.read_text() for name, path in paths.items()}
    assert found == texts
    both = f"{site.SECRET_KEY}\nformer"
    for name in ("secret", "queue", "pseudonym", "requester"):
        assert (settings.VAR_DIR / f"{name}-key").read_text() == both
    assert not mark().exists()


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_a_copy_made_while_work_comes_in_holds_whole_transactions_only(tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("pg_dump reads one snapshot")
    make_campaign(30)
    worker = make_worker(user=make_user("wanda"))
    begun = Event()

    def work():
        try:
            while do_one(worker):
                begun.set()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        assert begun.wait(20)
        for number in range(3):
            engines.dump(tmp_path / f"copy-{number}")
        working.result()
    for copy in sorted(tmp_path.glob("copy-*")):
        with closing(sqlite3.connect(copy)) as database:
            counts = {
                database.execute(f"select count(*) from {query}").fetchone()[0]
                for query in (
                    "crowd_rating where id > 0",
                    "crowd_ledgerentry where id > 0",
                    "crowd_assignment where submitted_at is not null and id > 0",
                )
            }
        assert len(counts) == 1
        assert counts != {0}


@pytest.mark.every_engine
def test_a_damaged_database_takes_nobodys_place(tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("pg_restore refuses by itself")
    copy = tmp_path / "copy"
    engines.dump(copy)
    pages = bytearray(copy.read_bytes())
    pages[8192:40960] = bytes(32768)
    copy.write_bytes(pages)
    with pytest.raises(BackupProblem, match="damaged"):
        engines._replace_sqlite(copy)


def test_a_database_that_nobody_can_read_any_more_is_replaced(tmp_path, monkeypatch):
    copy, place = tmp_path / "copy", tmp_path / "site.sqlite3"
    with closing(sqlite3.connect(copy)) as good:
        good.execute("create table found_again (x)")
    place.write_bytes(b"no database" * 1000)
    log = tmp_path / "site.sqlite3-wal"
    log.write_bytes(b"of another database")
    monkeypatch.setattr(engines, "_sqlite_file", lambda: place)
    engines._replace_sqlite(copy)
    assert not log.exists()
    with closing(sqlite3.connect(place)) as now:
        assert now.execute("select count(*) from found_again").fetchone() == (0,)


def test_a_database_in_use_stays_and_it_is_said_in_words(tmp_path, monkeypatch):
    copy, place = tmp_path / "copy", tmp_path / "site.sqlite3"
    with closing(sqlite3.connect(copy)) as good:
        good.execute("create table other (x)")
    with closing(sqlite3.connect(place, isolation_level=None)) as used:
        used.execute("pragma journal_mode=wal")
        used.execute("create table here (x)")
        used.execute("begin")
        used.execute("select * from here").fetchall()
        monkeypatch.setattr(engines, "_sqlite_file", lambda: place)
        monkeypatch.setattr(engines, "_open", lambda path: sqlite3.connect(path, 0.01))
        with pytest.raises(BackupProblem, match="Stop the site"):
            engines._replace_sqlite(copy)
        used.execute("commit")
        used.execute("insert into here values (1)")
