"""A database of each version, with a row in every table, becomes one of today.

Its tables end up as those of a new database, which is made by what the migrations were
squashed to.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.shared import put_migrated_sqlite
from tests.tables import definitions

HERE = Path(__file__).resolve().parent
VERSIONS = sorted(HERE.glob("*.sql.gz"))
# Migrates, then reads every row of every table as today's models have it.
LOOK = """
import json
import django
django.setup()
from django.apps import apps
from django.core.management import call_command
from django.db import connection
call_command("migrate", verbosity=0)
with connection.cursor() as cursor:
    assert not cursor.execute("pragma foreign_key_check").fetchall()
models = apps.get_models(include_auto_created=True)
print(json.dumps({m._meta.db_table: len(list(m._base_manager.all())) for m in models}))
"""


def put(version: Path, place: Path) -> dict[str, int]:
    """Make the database; give the number of rows of each table."""
    with closing(sqlite3.connect(place)) as database:
        database.executescript(gzip.decompress(version.read_bytes()).decode())
        names = database.execute("select name from sqlite_master where type = 'table'")
        return {
            name: database.execute(f'select count(*) from "{name}"').fetchone()[0]
            for (name,) in names.fetchall()
        }


def test_there_is_a_database_of_the_first_version():
    assert "0.1.0.sql.gz" in [version.name for version in VERSIONS]


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_every_row_of_every_table_is_carried_over(version, tmp_path):
    before = put(version, tmp_path / "genie.sqlite3")
    empty = sorted(name for name, n in before.items() if n == 0)
    assert empty == [], "these tables have no row in the database of that version"
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=HERE.parents[1],
        env={**os.environ, "GENIE_VAR": str(tmp_path), "DATABASE_URL": "",
             "DJANGO_SETTINGS_MODULE": "genie.settings"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    after = json.loads(done.stdout)
    # What a later version drops on purpose is to be named here, with the reason.
    lost = {n: (before[n], after.get(n, 0)) for n in before if n.partition("_")[0] in
            {"crowd", "quality", "leaderboard", "genie"}
            and after.get(n, 0) < before[n]}  # fmt: skip
    assert lost == {}
    put_migrated_sqlite(tmp_path / "new.sqlite3")
    assert definitions(tmp_path / "genie.sqlite3") == definitions(
        tmp_path / "new.sqlite3"
    )
