from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from leaderboard.tasks.drafts.bundle import opened
from leaderboard.tasks.services.bundles import import_bundle, look_at


class Command(BaseCommand):
    help = (
        "Load a task from a bundle: a folder or a zip file with task.toml and "
        "test.jsonl. The same bundle again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="a folder or a zip file")
        parser.add_argument("--dry-run", action="store_true", help="only look at it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._run(options)
        except GenieError as error:
            raise CommandError(one_line(error.message, 4_000)) from error

    def _run(self, options: dict[str, Any]) -> None:
        bundle = opened(options["path"])
        looked = look_at(bundle)
        if looked.problems:
            listed = "\n".join(f"  {one_line(one, 600)}" for one in looked.problems)
            raise CommandError(f"The bundle cannot be loaded.\n{listed}")
        if options["dry_run"]:
            self.stdout.write(
                f"{bundle.slug} could be loaded: {looked.n_instances:,} instances, "
                f"{looked.n_references:,} with references."
            )
            return
        report = import_bundle(bundle)
        self.stdout.write(
            f"Loaded {bundle.slug}: {report.n_instances:,} instances."
            if report.created
            else f"{bundle.slug} is already loaded with these instances; nothing has "
            "changed but what task.toml says."
        )
