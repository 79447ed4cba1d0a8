"""Study whether a script can distinguish test questions from real items."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.management import add_json, on_disk
from genie.upkeep.engines import working_copy
from genie_research.files import without_nan
from genie_research.management import StudyCommand
from genie_research.separability.shipped_tasks import task_with_systems
from genie_research.separability.study import TaskStudy, as_table, study_task
from leaderboard.tasks import shipped


class Command(StudyCommand):
    help = (
        "Draw the test questions of shipped tasks as for campaigns, many times, and "
        "print how well a script tells them from real items, and the positive from the "
        "negative ones, by what can be seen without reading. It works on a copy of "
        "the database and keeps no changes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "slugs",
            nargs="*",
            metavar="SLUG",
            help="tasks (default: all that come with outputs)",
        )
        parser.add_argument(
            "--source", type=on_disk, help="folder with the release of the one task"
        )
        parser.add_argument(
            "--outputs",
            type=on_disk,
            help="folder with systems' outputs for the one task: JSON files, instance to text",
        )
        parser.add_argument(
            "--confirmed",
            type=Path,
            help="JSON file of outputs that a reader confirmed as good: a list of "
            "instances for each file of --outputs",
        )
        parser.add_argument(
            "--published",
            action="store_true",
            help="assume that other systems' outputs are public, as on a board",
        )
        parser.add_argument("--draws", type=int, default=6, help="for each system")
        parser.add_argument(
            "--repeats",
            type=int,
            default=1,
            help="number of repetitions; means are shown with their Monte Carlo error",
        )
        parser.add_argument(
            "--systems",
            type=int,
            default=6,
            help="maximum number of systems per task",
        )
        parser.add_argument("--seed", type=int, default=0)
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = options["slugs"] or [
            slug
            for slug in shipped.known_tasks()
            if (shipped.folder(slug) / "systems" / "systems.toml").is_file()
        ]
        if (options["source"] or options["outputs"]) and len(slugs) != 1:
            raise CommandError("--source and --outputs are for one task: name it.")
        with working_copy():
            studies = [self._study(slug, options) for slug in slugs]
        content = without_nan([*map(asdict, studies)])
        self.print_results(as_table(studies), options, content)

    def _study(self, slug: str, options: dict[str, Any]) -> TaskStudy:
        with task_with_systems(
            slug,
            source=options["source"],
            outputs=options["outputs"],
            confirmed=options["confirmed"],
            published=options["published"],
        ) as (task, systems):
            return study_task(
                task,
                systems[: options["systems"]],
                n_draws=options["draws"],
                seed=options["seed"],
                n_repeats=options["repeats"],
            )
