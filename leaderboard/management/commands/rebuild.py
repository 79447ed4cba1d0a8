import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from genie.lib.errors import GenieError
from genie.management import RefusingCommand, add_json
from leaderboard.files import STREAM, open_file
from leaderboard.releases.rebuilding.public_log import check_since
from leaderboard.releases.rebuilding.rebuild import rebuild


class Command(RefusingCommand):
    help = (
        "Recompute every published number of a release from its folder or archive "
        "alone, without a database. The exit code is 1 at the first number that "
        "differs."
    )
    # it must run without a database: for readers of a release

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", type=Path, help="folder of the release, or its .zip"
        )
        parser.add_argument(
            "--parquet",
            action="store_true",
            help="read Parquet tables (extra: parquet); automatic if there is no JSONL",
        )
        parser.add_argument(
            "--since",
            type=Path,
            metavar="EARLIER",
            help="an earlier release of the same site, to check that the public log "
            "has only grown",
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        say = self.stderr.write if options["json"] else self.stdout.write
        with _unpack(options["folder"]) as folder:
            rebuilt = rebuild(folder, parquet=options["parquet"], report=say)
            if options["since"]:
                with _unpack(options["since"]) as earlier:
                    say(check_since(folder, earlier))
        lines = [f"not checked: {line}" for line in rebuilt.skipped]
        total = sum(rebuilt.n_same.values())
        lines.append(f"All {total:,} numbers match the published ones.")
        self.print_results("\n".join(lines), options, vars(rebuilt))


@contextmanager
def _unpack(path: Path) -> Iterator[Path]:
    if path != STREAM and not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="genie-rebuild-") as place:
        try:
            with open_file(path) as file, zipfile.ZipFile(file) as archive:
                archive.extractall(place)
        # RuntimeError: packed with a password, or with an unknown method
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            raise GenieError(
                f"{path} is neither a release's folder nor its .zip.", code="no-release"
            ) from error
        # an archive has one folder, with the name of the task
        inside = list(Path(place).iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else Path(place)
