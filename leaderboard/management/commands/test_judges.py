"""Test whether judges' labels may stand in for a person's; no database is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from leaderboard.stats.judges.alternative_annotator import (
    FEWEST_INSTANCES,
    SCORES,
    alternative_annotator_test,
)
from leaderboard.table_stats.judges.labels import document, read_labels, sheet
from leaderboard.table_stats.text import as_text


class Command(BaseCommand):
    help = (
        "Run the alternative annotator test: may a judge, such as a language model, stand "
        "in for any of the people? Both files are JSON objects from rater to an object "
        "from instance to label."
    )
    requires_system_checks: list[str] = []

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
            "--fewest",
            type=int,
            default=FEWEST_INSTANCES,
            help="instances that a person must have to be tested",
        )
        parser.add_argument(
            "--json", type=Path, metavar="OUT", help="file for all numbers"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            people = read_labels(options["people"])
            found = {
                name: alternative_annotator_test(
                    people,
                    labels,
                    score=options["score"],
                    epsilon=options["epsilon"],
                    fewest=options["fewest"],
                )
                for name, labels in read_labels(options["judges"]).items()
            }
        except (GenieError, ValueError) as error:
            raise CommandError(str(error)) from error
        note = (
            f"{len(people)} people; {options['score']}, epsilon {options['epsilon']}."
        )
        self.stdout.write(as_text([sheet(found, note)]))
        if options["json"]:
            text = json.dumps(document(found), indent=1)
            options["json"].write_text(text + "\n", encoding="utf-8")
