"""Tables made at once are those that the migrations end with."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from django.db import connections

from genie.lib import new_database
from leaderboard.site.roles import ROLES
from tests.shared import put_migrated_sqlite
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
    connections.databases[NAME] = {
        **connections.databases["default"],
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(tmp_path / "genie.sqlite3"),
    }
    with django_db_blocker.unblock():
        yield connections[NAME]
        connections[NAME].close()
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


def test_they_are_the_same_as_those_of_the_migrations(fresh, tmp_path):
    assert new_database.is_empty(fresh)
    new_database.create(fresh)
    assert not new_database.is_empty(fresh)
    put_migrated_sqlite(tmp_path / "migrated.sqlite3")
    at_once, step_by_step = (
        content(tmp_path / name) for name in ("genie.sqlite3", "migrated.sqlite3")
    )
    assert at_once == step_by_step
    assert at_once["number of rows in auth_group"] == len(ROLES)


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
