"""Compute a release's numbers again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from leaderboard.releases.rebuilding.rebuild import rebuild


class Command(BaseCommand):
    help = (
        "Recompute every published number of a release from its folder alone, "
        "without a database. Exit code 1 at the first number that differs."
    )
    # it must run where there is no database: with readers of a release
    requires_migrations_checks = False
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            rebuilt = rebuild(options["folder"], report=self.stdout.write)
        except GenieError as error:
            raise CommandError(error.message) from error
        for line in rebuilt.skipped:
            self.stdout.write(f"not checked: {line}")
        total = sum(rebuilt.n_same.values())
        self.stdout.write(f"All {total:,} numbers match the published ones.")
