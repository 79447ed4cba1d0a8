"""Measure what careless workers leave in scores, by simulation."""

import runpy
from typing import Any

from django.core.management.base import CommandParser

from genie.management import add_json, on_disk
from genie_research.crowds import kinds
from genie_research.crowds.campaign import CrowdPlan
from genie_research.crowds.study import kinds_sheet, study_crowd, target_sheet
from genie_research.files import without_nan, write_json
from genie_research.management import StudyCommand
from leaderboard.table_stats.text import as_text


class Command(StudyCommand):
    help = (
        "Simulate campaigns with many kinds of careless workers, and print how exact the "
        "published scores are beside those of the honest ratings alone."
    )
    # No site is needed: numbers in, numbers out.

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--kinds",
            type=on_disk,
            help="Python file with dictionaries HONEST, BAD of kinds in place of ours; "
            "see genie_research.crowds.kinds",
        )
        parser.add_argument("--bad", type=float, nargs="+", default=[0.2, 0.3, 0.6])
        parser.add_argument("--answers", type=int, nargs="+", default=[60, 10])
        parser.add_argument(
            "--weak",
            type=float,
            nargs="+",
            default=[0.0],
            help="shares of workers who are weak raters: right in seven of ten tests",
        )
        parser.add_argument("--workers", type=int, default=60)
        parser.add_argument("--campaigns", type=int, default=40, help="of each row")
        parser.add_argument("--seed", type=int, default=0)
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        own = runpy.run_path(str(options["kinds"])) if options["kinds"] else {}
        studies = []
        for answers in options["answers"]:
            for bad in options["bad"]:
                for weak in options["weak"]:
                    plan = CrowdPlan(bad, answers, weak, options["workers"])
                    studies.append(
                        study_crowd(
                            plan,
                            n_campaigns=options["campaigns"],
                            seed=options["seed"],
                            honest=own.get("HONEST", kinds.HONEST),
                            bad=own.get("BAD", kinds.BAD),
                        )
                    )
                    # After each row, so that an interrupted study keeps its results.
                    document = without_nan(
                        [vars(one) | {"plan": vars(one.plan)} for one in studies]
                    )
                    write_json(options["json"], document)
        text = as_text([target_sheet(studies), kinds_sheet(studies)])
        self.print_results(text, options, document)
