"""Bring a site back from a file that `genie backup` wrote."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from genie.management import RefusingCommand
from genie.upkeep.restore import restore


class Command(RefusingCommand):
    help = (
        "Check a backup and bring the site back from it, all or nothing. Stop the "
        "site and its queue before, and run `genie migrate` and `genie doctor` after."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace",
            action="store_true",
            help="put the backup in the place of the database that is here",
        )
        parser.add_argument(
            "--other-key",
            action="store_true",
            help="go on with another secret key than the backup's",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        restore(
            options["file"],
            replace=options["replace"],
            other_key=options["other_key"],
            say=self.stdout.write,
        )
        self.stdout.write("Restored. Next: genie migrate, then genie doctor.")
