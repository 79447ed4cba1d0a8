"""Bring a site back from a file that `genie backup` wrote."""

from typing import Any

from django.core.management.base import CommandParser

from genie.management import RefusingCommand, on_disk
from genie.upkeep.restore import restore


class Command(RefusingCommand):
    help = (
        "Check a backup and restore the site from it, completely or not at all. Stop "
        "the site and its queue first. Afterwards run `genie migrate` and `genie "
        "doctor`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=on_disk)
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace the current database with the backup",
        )
        parser.add_argument(
            "--other-key",
            action="store_true",
            help="keep this site's secret key, which differs from the backup's",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        restore(
            options["file"],
            replace=options["replace"],
            other_key=options["other_key"],
            say=self.stdout.write,
        )
        self.stdout.write("Restored. Next: genie migrate, then genie doctor.")
