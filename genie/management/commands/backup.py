"""Write a whole site into one file."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from genie.lib.unguessable import fingerprint
from genie.management import RefusingCommand, refuse_empty_database
from genie.upkeep.backup import backup


class Command(RefusingCommand):
    help = (
        "Back up the database and the uploads to one file with checksums. The site "
        "can keep running. Restore the file with `genie restore`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, help="file to write (must not exist yet)"
        )
        parser.add_argument(
            "--with-key",
            action="store_true",
            help="include the site's secret keys (with them, anyone who has the file "
            "can sign in as any user)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_empty_database()
        path: Path = options["file"].resolve()
        backup(path, with_key=options["with_key"], say=self.stdout.write)
        self.stdout.write(f"{path}: {path.stat().st_size / 1e6:,.1f} MB")
        if not options["with_key"]:
            self.stdout.write(
                "The backup does not include the secret key. Store it separately "
                f"(fingerprint {fingerprint(settings.SECRET_KEY)})."
            )
        self.stdout.write(
            "It does not include environment variables or the folders that they name "
            "(GENIE_TASKS, GENIE_EXTENSIONS, models)."
        )
