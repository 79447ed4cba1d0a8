from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.lib.logs import one_line
from genie.management import RefusingCommand, add_json
from leaderboard.tasks.drafts.bundle import open_bundle
from leaderboard.tasks.services.bundles import import_bundle, look_at


class Command(RefusingCommand):
    help = (
        "Load a task from a bundle: a folder or a zip file with task.toml and "
        "test.jsonl. Loading the same bundle again has no effect."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="a folder or a zip file")
        parser.add_argument(
            "--dry-run", action="store_true", help="check the bundle without loading it"
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        bundle = open_bundle(options["path"])
        looked = look_at(bundle)
        if looked.problems:
            listed = "\n".join(f"  {one_line(one, 600)}" for one in looked.problems)
            raise CommandError(f"The bundle cannot be loaded.\n{listed}")
        created = None if options["dry_run"] else import_bundle(bundle).created
        if created is None:
            text = (
                f"{bundle.slug} could be loaded: {looked.n_instances:,} instances, "
                f"{looked.n_references:,} with references."
            )
        elif created:
            text = f"Loaded {bundle.slug}: {looked.n_instances:,} instances."
        else:
            text = (
                f"{bundle.slug} is already loaded with these instances. Only its "
                "settings now follow task.toml."
            )
        found = vars(looked) | {"task": bundle.slug, "created": created}
        self.print_results(text, options, found)
