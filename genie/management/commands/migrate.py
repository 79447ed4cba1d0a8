"""Django's `migrate`, which makes the tables of an empty database at once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections

from genie.lib import new_database

# With any of these, somebody asks for more than a database that is up to date.
_MORE = (
    "app_label", "fake", "fake_initial", "plan", "check_unapplied", "prune",
    "run_syncdb", "step_by_step",
)  # fmt: skip


class Command(migrate.Command):
    help = (
        "Bring the database up to date. An empty one gets its tables at once, in "
        "place of one migration after the other."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--step-by-step",
            action="store_true",
            help="Apply each migration, even to an empty database.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        only = not any(options[name] for name in _MORE)
        if only and new_database.is_empty(connection):
            new_database.create(connection)
            if options["verbosity"]:
                self.stdout.write("The database was empty: all tables are made.")
        super().handle(*args, **options)
