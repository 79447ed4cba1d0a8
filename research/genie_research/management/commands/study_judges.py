"""Study by simulation and on kept labels what judges are worth; no database is needed."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie_research.files import write_json
from genie_research.judges.bias_study import study_biases
from genie_research.judges.coverage_study import study_coverage
from genie_research.judges.difference_study import study_differences
from genie_research.judges.studies import (
    bias_sheet,
    coverage_sheet,
    difference_sheet,
    savings,
    savings_sheet,
)
from genie_research.management import StudyCommand
from leaderboard.table_stats.report import Sheet
from leaderboard.table_stats.text import as_text


class Command(StudyCommand):
    help = (
        "Simulate judges that are good, biased and useless beside people (coverage and "
        "labels saved), and audit scripted judges with planted biases (power and false "
        "alarms); with --data, also measure the labels that judges save on kept data sets."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tasks", type=int, default=1_000, help="of each judge")
        parser.add_argument("--audits", type=int, default=200, help="of each judge")
        parser.add_argument("--instances", type=int, default=1_000)
        parser.add_argument("--people", type=int, default=200, help="instances rated")
        parser.add_argument("--workers", type=int, default=40)
        parser.add_argument(
            "--data",
            type=Path,
            metavar="FOLDER",
            help="of data sets, each a folder with labels as AltTest has them",
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", type=Path, metavar="OUT")

    def handle(self, *args: Any, **options: Any) -> None:
        sizes = [options[name] for name in ("tasks", "audits")]
        if min(sizes) < 1 or not 20 <= options["people"] <= options["instances"]:
            raise CommandError(
                "At least one task and audit, and 20 instances rated by people, "
                "no more than there are, are needed."
            )
        sheets: list[Sheet] = []
        numbers: dict[str, Any] = {}
        seed = options["seed"]
        if options["data"]:
            found = savings(options["data"], seed=seed)
            numbers["savings"] = {
                name: {judge: one.flat() for judge, one in judges.items()}
                for name, judges in found.items()
            }
            sheets.append(savings_sheet(found))
        cells = study_coverage(
            options["tasks"],
            seed=seed,
            n_instances=options["instances"],
            n_people=options["people"],
            n_workers=options["workers"],
        )
        biases = study_biases(options["audits"], seed=seed)
        differences = study_differences(
            options["tasks"],
            seed=seed,
            n_instances=options["instances"],
            n_people=options["people"],
            n_workers=options["workers"],
        )
        sheets += [
            coverage_sheet(cells),
            difference_sheet(differences),
            bias_sheet(biases),
        ]
        self.stdout.write(as_text(sheets))
        numbers |= {
            "seed": seed,
            "coverage": [asdict(one) for one in cells],
            "differences": [asdict(one) for one in differences],
            "biases": [asdict(one) for one in biases],
        }
        write_json(options["json"], numbers)
