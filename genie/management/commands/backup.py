"""Write a whole site into one file."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from genie.lib.unguessable import fingerprint
from genie.management import (
    STREAM,
    RefusingCommand,
    add_json,
    on_disk,
    refuse_empty_database,
)
from genie.upkeep.backup import backup


class Command(RefusingCommand):
    help = (
        "Back up the database and the uploads to one file with checksums. The site "
        "can keep running. Restore the file with `genie restore`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=on_disk, help="file to write (must not exist yet)"
        )
        parser.add_argument(
            "--with-key",
            action="store_true",
            help="include the site's secret keys (with them, anyone who has the file "
            "can sign in as any user)",
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_empty_database()
        path: Path = options["file"].resolve()
        say = self.stderr.write if options["json"] == STREAM else self.stdout.write
        backup(path, with_key=options["with_key"], say=say)
        n_bytes = path.stat().st_size
        self.print_results("", options, {"file": str(path), "bytes": n_bytes})
        say(f"{path}: {n_bytes / 1e6:,.1f} MB")
        if not options["with_key"]:
            say(
                "The backup does not include the secret key. Store it separately "
                f"(fingerprint {fingerprint(settings.SECRET_KEY)})."
            )
        say(
            "It does not include environment variables or the folders that they name "
            "(GENIE_TASKS, GENIE_EXTENSIONS, models)."
        )
