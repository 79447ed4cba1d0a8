import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from genie.management import STREAM, RefusingCommand, add_json, find_row
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.bundles import export_bundle


class Command(RefusingCommand):
    help = (
        "Write a loaded task as a bundle of task.toml and test.jsonl, in a zip file "
        "or folder. The same task always gives the same bytes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the benchmark task")
        parser.add_argument(
            "--out",
            type=Path,
            help="SLUG.zip by default; without .zip, a folder; -: print it",
        )
        parser.add_argument(
            "--with-hidden-references",
            action="store_true",
            help="include hidden references (for people you trust; without them, the "
            "bundle is a different test set)",
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        task = find_row(Task.objects.all(), "task", slug=options["slug"])
        told = options["with_hidden_references"]
        bundle = export_bundle(task, with_references=told)
        out: Path = options["out"] or Path(f"{task.slug}.zip")
        if out == STREAM:
            sys.stdout.buffer.write(bundle.to_zip())
            return
        out = bundle.write(out)
        text = f"Written to {out}: {task.n_instances:,} instances."
        if task.hidden_references and not told:
            text += "\nThe bundle does not include the hidden references."
        found = {"file": str(out), "n_instances": task.n_instances}
        self.print_results(text, options, found)
