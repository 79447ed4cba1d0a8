"""Write a whole site into one file."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.unguessable import fingerprint
from genie.upkeep.archive import BackupProblem
from genie.upkeep.backup import backup


class Command(BaseCommand):
    help = (
        "Write the database and the uploads into one file with checksums, while the "
        "site may go on. `genie restore` brings them back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write; must not exist")
        parser.add_argument(
            "--with-key",
            action="store_true",
            help="put the site's secret keys in, too: whoever has the file can then "
            "sign in as anybody",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"].resolve()
        try:
            backup(path, with_key=options["with_key"], say=self.stdout.write)
        except BackupProblem as problem:
            raise CommandError(problem.message) from None
        self.stdout.write(f"{path}: {path.stat().st_size / 1e6:,.1f} MB")
        if not options["with_key"]:
            self.stdout.write(
                "The secret key is not in it: keep that elsewhere (fingerprint "
                f"{fingerprint(settings.SECRET_KEY)})."
            )
        self.stdout.write(
            "Environment variables and the folders that they name (GENIE_TASKS, "
            "GENIE_EXTENSIONS, models) are not in it either."
        )
