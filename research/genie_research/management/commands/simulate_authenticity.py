"""Study how well the signs of a program's answers find language models."""

from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie_research.authenticity.real_models import read_data_set, told_apart
from genie_research.authenticity.study import (
    COUNTS,
    JUDGES,
    SHARES,
    SPREADS,
    Cell,
    Crowd,
    study_cell,
)
from genie_research.authenticity.study_table import models_table, study_table
from genie_research.files import write_json
from genie_research.management import StudyCommand


class Command(StudyCommand):
    help = (
        "Simulate crowds in which some workers let a language model answer, and print "
        "the area under the ROC curve of the combined signs with its simulation error; "
        "or put real models' answers in people's place (--models)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tasks", type=int, default=200, help="crowds a cell")
        parser.add_argument("--shares", type=float, nargs="+", default=list(SHARES))
        parser.add_argument("--answers", type=int, nargs="+", default=list(COUNTS))
        parser.add_argument("--judges", type=float, nargs="+", default=list(JUDGES))
        parser.add_argument("--spreads", type=float, nargs="+", default=list(SPREADS))
        parser.add_argument(
            "--repeat",
            type=float,
            default=0.6,
            help="correlation of two answers of the model to one text",
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", type=Path, help="file for all results")
        parser.add_argument(
            "--models",
            type=Path,
            help="instead, a folder with a folder for each data set, in which people and "
            "models answered the same items (human_annotations.json.gz, "
            "llm_annotations.json.gz)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["tasks"] < 1 or min(options["answers"]) < 6:
            raise CommandError("Take at least one task, and six answers each.")
        rows = self._models(options) if options["models"] else self._study(options)
        write_json(options["json"], [asdict(row) for row in rows])

    def _study(self, options: dict[str, Any]) -> list[Cell]:
        chosen = product(
            *(options[k] for k in ("shares", "answers", "judges", "spreads"))
        )
        cells = []
        for share, n, judge, spread in chosen:
            if not (0 < share < 1 and 0 <= judge <= 1 and spread > 0):
                raise CommandError("Shares and judges lie between 0 and 1.")
            crowd = Crowd(share, n, judge, spread, options["repeat"])
            cells.append(study_cell(crowd, options["tasks"], options["seed"]))
        self.stdout.write(study_table(cells))
        return cells

    def _models(self, options: dict[str, Any]) -> list[Any]:
        rows = []
        folders = [
            p.parent for p in options["models"].glob("*/llm_annotations.json.gz")
        ]
        for folder in sorted(folders):
            data = read_data_set(folder)
            rows += [told_apart(data, n, options["seed"]) for n in options["answers"]]
        if not rows:
            raise CommandError(f"{options['models']} has no data set of this kind.")
        told = [row for row in rows if row is not None]
        self.stdout.write(models_table(told))
        return told
