from typing import Any

from django.core.management.base import CommandParser

from genie.management import RefusingCommand, add_json, find_row, on_disk
from leaderboard.releases.make import make
from leaderboard.tasks.models import Task


class Command(RefusingCommand):
    help = (
        "Write a release of a task to a folder: judgments under pseudonyms, scores, "
        "metrics, test-question statistics and, if the license allows, texts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the benchmark task")
        parser.add_argument("--out", required=True, type=on_disk, help="a new folder")
        texts = parser.add_mutually_exclusive_group()
        texts.add_argument(
            "--with-texts",
            action="store_true",
            default=None,
            dest="texts",
            help="include texts regardless of the stated license (make sure that you "
            "are allowed to)",
        )
        texts.add_argument("--without-texts", action="store_false", dest="texts")

        parser.add_argument(
            "--parquet",
            action="store_true",
            help="also write each table as Parquet (extra: parquet)",
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        task = find_row(Task.objects.all(), "task", slug=options["slug"])
        release = make(
            task, options["out"], texts=options["texts"], parquet=options["parquet"]
        )
        lines = [f"{name}: {n:,} rows" for name, n in release.counts.items()]
        if not release.texts:
            lines.append(
                "The release has no texts, because the license is "
                f"{task.licence or 'not stated'!r}."
            )
        lines.append(f"Check it with: genie rebuild {release.folder}")
        self.print_results(
            "\n".join(lines),
            options,
            {
                "folder": str(release.folder),
                "rows": release.counts,
                "texts": release.texts,
            },
        )
