"""Test whether judges' labels may replace a person's, without a database."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from genie.lib.errors import GenieError
from genie.management import RefusingCommand, add_json
from leaderboard.stats.judges.validation import (
    SCORES,
    alternative_annotator_test,
    validate,
)
from leaderboard.table_stats.judge_labels import (
    document,
    license_sheet,
    read_labels,
    sheet,
    state_of,
)
from leaderboard.table_stats.text import as_text


class Command(RefusingCommand):
    refusals = (GenieError, ValueError)
    help = (
        "Run the alternative annotator test: can a judge, such as a language model, "
        "replace any of the people? Both files are JSON objects that map each rater "
        "to an object from instance to label."
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
            help="allowance for people's higher cost: .2 for experts, .15 for skilled "
            "annotators, .1 for crowd workers",
        )
        parser.add_argument(
            "--license",
            action="store_true",
            help="also show whether each judge is licensed, and why",
        )
        parser.add_argument("--seed", type=int, default=0, help="of intervals")
        add_json(parser)

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
        licenses = {
            name: validate(people, labels, **asked, seed=options["seed"])
            for name, labels in judges.items()
            if options["license"]
        }
        note = (
            f"{len(people)} people; {options['score']}, epsilon {options['epsilon']}."
        )
        sheets = [sheet(found, note)]
        content = document(found)
        if options["license"]:
            sheets.append(license_sheet(licenses))
        for name, reasons in licenses.items():
            content[name]["licence"] = state_of(reasons)
            content[name]["reasons"] = [vars(reason) for reason in reasons]
        self.print_results(as_text(sheets), options, content)
