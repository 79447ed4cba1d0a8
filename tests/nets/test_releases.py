"""A site backed up by 0.1.0 is restored and migrated by today's code, and answers as then."""

import sqlite3
from contextlib import closing

import pytest

from tests.nets.base import BASE
from tests.shared import put_migrated_sqlite
from tests.test_backup import machine, run, tried


@pytest.mark.slow
def test_a_site_of_0_1_0_is_upgraded(tmp_path):
    env = machine(tmp_path, "")
    run(tmp_path, env, f"genie restore '{BASE}/site.genie-backup'", "genie migrate")
    put_migrated_sqlite(tmp_path / "new.sqlite3")
    old, new = tables(tmp_path / "data/genie.sqlite3"), tables(tmp_path / "new.sqlite3")
    assert old == new  # else a migration of before was edited
    doctor = tried(tmp_path, env, "genie doctor").stdout
    wrong = [line.split()[1] for line in doctor.splitlines() if line[:7] == "problem"]
    assert wrong == ["queue"], doctor
    check = "from tests.nets import base; base.check()"
    run(tmp_path, env, f"genie shell --no-imports -c '{check}'")
    releases = sorted((tmp_path / "data/media/releases").iterdir())
    rebuilt = run(tmp_path, env, *(f"genie rebuild '{path}'" for path in releases))
    assert rebuilt.count("numbers match the published ones") == 2


def tables(file) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(file)) as database:
        return database.execute(
            "select name, sql from sqlite_master order by name"
        ).fetchall()
