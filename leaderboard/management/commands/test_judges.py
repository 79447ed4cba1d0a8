"""Test whether judges' labels may replace a person's, without a database."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from genie.lib.errors import GenieError
from genie.management import RefusingCommand
from leaderboard.stats.judges.validation import (
    SCORES,
    alternative_annotator_test,
    validate,
)
from leaderboard.table_stats.judge_labels import (
    document,
    licence_sheet,
    read_labels,
    sheet,
    state_of,
)
from leaderboard.table_stats.text import as_text


class Command(RefusingCommand):
    refusals = (GenieError, ValueError)
    help = (
        "Run the alternative annotator test: may a judge, such as a language model, stand "
        "in for any of the people? Both files are JSON objects from rater to an object "
        "from instance to label."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("people", type=Path, metavar="PEOPLE")
        parser.add_argument("judges", type=Path, metavar="JUDGES")
        parser.add_argument(
            "--score",
            choices=list(SCORES),
            default="accuracy",
            help="equal labels, or minus the root mean squared difference of numbers",
        )
        parser.add_argument(
            "--epsilon",
            type=float,
            default=0.2,
            help="what people cost more, as a share of instances: .2 for experts, .15 for "
            "skilled annotators, .1 for crowd workers",
        )
        parser.add_argument(
            "--licence",
            action="store_true",
            help="also say of each judge whether it is licensed, and why",
        )
        parser.add_argument("--seed", type=int, default=0, help="of intervals")
        parser.add_argument(
            "--json", type=Path, metavar="OUT", help="file for all numbers"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        people = read_labels(options["people"])
        judges = read_labels(options["judges"])
        asked: dict[str, Any] = {
            "score": options["score"],
            "epsilon": options["epsilon"],
        }
        found = {
            name: alternative_annotator_test(people, labels, **asked)
            for name, labels in judges.items()
        }
        licences = {
            name: validate(people, labels, **asked, seed=options["seed"])
            for name, labels in judges.items()
            if options["licence"]
        }
        note = (
            f"{len(people)} people; {options['score']}, epsilon {options['epsilon']}."
        )
        sheets = [sheet(found, note)]
        content = document(found)
        if options["licence"]:
            sheets.append(licence_sheet(licences))
        for name, reasons in licences.items():
            content[name]["licence"] = state_of(reasons)
            content[name]["reasons"] = [vars(reason) for reason in reasons]
        self.stdout.write(as_text(sheets))
        if options["json"]:
            text = json.dumps(content, indent=1)
            options["json"].write_text(text + "\n", encoding="utf-8")
