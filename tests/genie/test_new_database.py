"""Tables made at once are those that the migrations end with."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, connections

from genie.lib import new_database
from leaderboard.site.roles import ROLES
from tests.shared import ROOT
from tests.tables import definitions

NAME = "at-once"
# What migrations leave in tables, besides tables.
ROWS = {
    "django_migrations": "app, name",
    "django_content_type": "app_label, model",
    "auth_permission": "codename, name",
}


@pytest.fixture
def fresh(tmp_path, django_db_blocker, settings):
    """Give an empty SQLite database of its own, with the product's settings."""
    # tests themselves do without migrations
    settings.MIGRATION_MODULES = {}
    on_server = connection.vendor == "postgresql"
    connections.databases[NAME] = {
        **connections.databases["default"],
        "NAME": f"at_once_{tmp_path.name}"
        if on_server
        else str(tmp_path / "genie.sqlite3"),
    }
    with django_db_blocker.unblock():
        if on_server:
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'create database "at_once_{tmp_path.name}"')
        yield connections[NAME]
        connections[NAME].close()
        if on_server:
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'drop database "at_once_{tmp_path.name}"')
    del connections[NAME]
    del connections.databases[NAME]


def content(path) -> dict[str, object]:
    """Read every table's columns, rules and rows, and every index.

    Rows have other numbers and times: nothing asks for either.
    """
    found: dict[str, object] = dict(definitions(path))
    with closing(sqlite3.connect(path)) as database:
        for table, column in ROWS.items():
            rows = database.execute(f"select {column} from {table}").fetchall()
            found[f"rows of {table}"] = sorted(rows)
        for name in [key.removeprefix("table ") for key in found if "table " in key]:
            (n,) = database.execute(f"select count(*) from {name}").fetchone()
            found[f"number of rows in {name}"] = n
    return found


def migrate_step_by_step(address: str, folder) -> None:
    """Replay all migrations, which takes half a minute of a processor."""
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--step-by-step", "--verbosity", "0"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": address, "GENIE_VAR": str(folder),
             "DJANGO_SETTINGS_MODULE": "genie.settings"},
        check=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's own words")
def test_they_are_the_same_as_those_of_the_migrations(fresh, tmp_path):
    assert new_database.is_empty(fresh)
    said = StringIO()
    call_command("migrate", database=NAME, stdout=said)
    assert "all tables are made" in said.getvalue()
    assert not new_database.is_empty(fresh)
    migrate_step_by_step(f"sqlite:///{tmp_path / 'migrated.sqlite3'}", tmp_path)
    at_once, step_by_step = (
        content(tmp_path / name) for name in ("genie.sqlite3", "migrated.sqlite3")
    )
    assert at_once == step_by_step
    assert at_once["number of rows in auth_group"] == len(ROLES)


# Columns as the server knows them, and each index as it would be made again.
ON_THE_SERVER = (
    "select table_name, column_name, data_type, is_nullable, column_default"
    " from information_schema.columns where table_schema = 'public'",
    "select tablename, indexdef, '', '', '' from pg_indexes where schemaname = 'public'",
    "select conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', ''"
    " from pg_constraint where connamespace = 'public'::regnamespace",
)
# Migrations of Django's own make these three with wider ids than its models ask for.
WIDER = {"auth_group_permissions", "auth_user_groups", "auth_user_user_permissions"}


@pytest.mark.every_engine
@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL")
def test_they_are_the_same_on_a_server(fresh, db):
    call_command("migrate", database=NAME, stdout=StringIO())

    def made(database) -> set[tuple]:
        rows = set()
        with database.cursor() as cursor:
            for question in ON_THE_SERVER:
                cursor.execute(question)
                rows |= set(cursor.fetchall())
        return {row for row in rows if not (row[1] == "id" and row[0] in WIDER)}

    assert made(fresh) == made(connection)


def test_a_start_that_is_cut_off_leaves_nothing_behind(fresh, monkeypatch):
    def cut_off(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(new_database, "emit_post_migrate_signal", cut_off)
    with pytest.raises(KeyboardInterrupt):
        new_database.create(fresh)
    assert new_database.is_empty(fresh)
    monkeypatch.undo()
    new_database.create(fresh)
    assert not new_database.is_empty(fresh)
