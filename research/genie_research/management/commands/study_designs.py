"""Study on any labels which design gives the most stable score."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.management import add_json, on_disk
from genie_research.boards.design_studies import (
    DesignStudy,
    Settings,
    design_studies,
    study_document,
    study_picture,
    study_sheets,
)
from genie_research.files import without_nan
from genie_research.management import StudyCommand
from leaderboard.imports.readers import options as of_files
from leaderboard.table_stats.read import Pairs, read_tables
from leaderboard.table_stats.text import as_text


class Command(StudyCommand):
    help = (
        "Repeat section 4 of the Genie paper on tables of labels: graded or binary "
        "answers, means or majorities, one label for many instances or several for "
        "fewer."
    )
    # No site is needed: it reads a file and prints.

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files",
            nargs="+",
            type=Path,
            metavar="FILE",
            help="tables of ratings (see genie stats), each studied by itself; a "
            "column day adds the days",
        )
        of_files.add_arguments(parser)
        parser.add_argument(
            "--scale", nargs=2, type=float, default=[0.0, 1.0], metavar=("LOW", "HIGH")
        )
        parser.add_argument(
            "--threshold",
            type=float,
            default=0.5,
            help="share of the scale above which a label is a binary yes",
        )
        parser.add_argument(
            "--labels", type=int, default=3, help="of each instance, where several"
        )
        parser.add_argument(
            "--budget",
            type=int,
            help="labels of a study; as many as there are instances",
        )
        parser.add_argument("--rounds", type=int, default=500)
        parser.add_argument("--seed", type=int, default=0)
        add_json(parser)
        parser.add_argument(
            "--plots", type=on_disk, help="folder for SVG plots, one per system"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        settings = Settings(
            (options["scale"][0], options["scale"][1]),
            options["threshold"],
            options["labels"],
            options["budget"],
            options["rounds"],
            options["seed"],
        )
        found = [
            study
            for path in options["files"]
            for study in _study(path, of_files.choices_of(options), settings)
        ]
        self.print_results(
            "\n".join(as_text(study_sheets(study)) for study in found),
            options,
            without_nan(study_document(found, settings)),
        )
        if options["plots"]:
            options["plots"].mkdir(parents=True, exist_ok=True)
            for number, study in enumerate(found, 1):
                path = options["plots"] / f"{number}.svg"
                path.write_text(study_picture(study), encoding="utf-8")
                self.stderr.write(f"Wrote {path}.")


def _study(
    path: Path, choices: dict[str, Any], settings: Settings
) -> list[DesignStudy]:
    found: list[DesignStudy] = []
    for table in read_tables([path], choices):
        if isinstance(table, Pairs):
            raise CommandError(f"{path.name} has pairs; designs need ratings.")
        found += design_studies(table, path.name.split(".")[0], settings)
    return found
