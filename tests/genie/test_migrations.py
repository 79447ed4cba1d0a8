"""The migrations end with the tables, roles and permissions of today's models."""

import sqlite3
from contextlib import closing

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.db import connection

from leaderboard.site.roles import ROLES
from tests.shared import put_migrated_sqlite
from tests.tables import definitions


def rows(database, question: str) -> set[tuple]:
    return set(database.execute(question).fetchall())


@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's own words")
def test_migrations_make_the_tables_of_the_models(tmp_path):
    connection.ensure_connection()
    every = definitions(connection.connection).items()
    of_models = {name: made for name, made in every if " guard" not in name}
    put_migrated_sqlite(tmp_path / "migrated.sqlite3")
    with closing(sqlite3.connect(tmp_path / "migrated.sqlite3")) as database:
        migrated = definitions(database)
        groups = rows(database, "select name from auth_group")
        allowed = rows(database, "select codename, name from auth_permission")
    assert migrated.pop("table django_migrations")
    assert len(of_models) > 300
    assert migrated == of_models
    assert groups == set(Group.own.values_list("name"))
    assert len(groups) == len(ROLES)
    assert allowed == set(Permission.objects.values_list("codename", "name"))


def test_every_change_of_a_model_has_its_migration(settings):
    settings.MIGRATION_MODULES = {}  # tests run without
    call_command("makemigrations", check=True, dry_run=True)  # exits with 1
