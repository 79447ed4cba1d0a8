"""Create all tables of a new database at once, in place of replaying its history.

Migrations render all models again for each table, some seconds of a processor in all; the
tables that they end with take less than one. `tests/genie/test_new_database.py` compares the two.
"""

from __future__ import annotations

from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def is_empty(connection: BaseDatabaseWrapper) -> bool:
    """Tell whether the database has no table yet."""
    return not connection.introspection.table_names()


def create(connection: BaseDatabaseWrapper) -> None:
    """Create the tables of all models and note every migration as applied.

    It happens in one transaction: a start that is cut off leaves the database empty.
    """
    # SQLite changes tables in a transaction only while it checks no foreign keys.
    with (
        connection.constraint_checks_disabled(),
        transaction.atomic(using=connection.alias),
    ):
        with connection.schema_editor() as editor:
            for model in apps.get_models():
                if model._meta.can_migrate(connection):
                    editor.create_model(model)
        recorder = MigrationRecorder(connection)
        recorder.ensure_schema()
        for app, name in sorted(MigrationLoader(connection).disk_migrations):
            recorder.record_applied(app, name)
        emit_post_migrate_signal(verbosity=0, interactive=False, db=connection.alias)
