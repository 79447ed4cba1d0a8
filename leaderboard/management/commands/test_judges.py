"""Test whether judges' labels may replace a person's, without a database."""

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
from leaderboard.stats.judges.licence import Licence, judge_licence
from leaderboard.table_stats.judge_labels import (
    Labels,
    document,
    facts_of,
    licence_document,
    licence_sheet,
    read_given,
    read_labels,
    sheet,
)
from leaderboard.table_stats.text import as_text


class Command(BaseCommand):
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
            "--fewest",
            type=int,
            default=FEWEST_INSTANCES,
            help="instances that a person must have to be tested",
        )
        parser.add_argument(
            "--licence",
            action="store_true",
            help="also say of each judge whether it is licensed, and why",
        )
        parser.add_argument(
            "--facts",
            nargs="+",
            default=[],
            metavar="NAME=VALUE",
            help="what a licence rests on, such as model, prompt, scale and crowd",
        )
        parser.add_argument(
            "--given",
            type=Path,
            metavar="FILE",
            help="what --json once wrote with --licence: void where facts have moved",
        )
        parser.add_argument(
            "--before",
            type=Path,
            metavar="JUDGES",
            help="judges' earlier labels of the same instances, to see drift",
        )
        parser.add_argument("--seed", type=int, default=0, help="of intervals")
        parser.add_argument(
            "--json", type=Path, metavar="OUT", help="file for all numbers"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            people = read_labels(options["people"])
            judges = read_labels(options["judges"])
            found = {
                name: alternative_annotator_test(
                    people,
                    labels,
                    score=options["score"],
                    epsilon=options["epsilon"],
                    fewest=options["fewest"],
                )
                for name, labels in judges.items()
            }
            licences = self._licences(people, judges, options)
        except (GenieError, ValueError) as error:
            raise CommandError(str(error)) from error
        note = (
            f"{len(people)} people; {options['score']}, epsilon {options['epsilon']}."
        )
        sheets = [sheet(found, note)]
        content = document(found)
        if options["licence"]:
            sheets.append(licence_sheet(licences))
            for name, told in licence_document(licences).items():
                content[name] |= {**told, "facts": facts_of(options["facts"])}
        self.stdout.write(as_text(sheets))
        if options["json"]:
            text = json.dumps(content, indent=1)
            options["json"].write_text(text + "\n", encoding="utf-8")

    def _licences(
        self, people: Labels, judges: Labels, options: dict[str, Any]
    ) -> dict[str, Licence]:
        if not options["licence"]:
            return {}
        given = read_given(options["given"]) if options["given"] else {}
        before = read_labels(options["before"]) if options["before"] else {}
        facts = facts_of(options["facts"])
        return {
            name: judge_licence(
                people,
                labels,
                score=options["score"],
                epsilon=options["epsilon"],
                seed=options["seed"],
                before=before.get(name),
                given_on=given.get(name),
                facts=facts,
            )
            for name, labels in judges.items()
        }
