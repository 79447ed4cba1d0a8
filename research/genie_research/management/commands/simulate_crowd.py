"""Measure what careless workers leave in scores, by simulation."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from genie.upkeep.engines import working_copy
from genie_research.boards.cleaned import Named, cleaned_document, cleaned_sheet
from genie_research.boards.cleaning_study import simulate_cleaning
from genie_research.boards.segments import read_segments
from genie_research.crowds.campaign import DETECTORS, CampaignPlan, run_campaign
from genie_research.crowds.people import CrowdPlan
from genie_research.crowds.through_the_site import site_campaign
from genie_research.files import write_json
from genie_research.management import StudyCommand
from leaderboard.table_stats.text import as_text

#: Crowds that violate the models' assumptions, for --wrong.
WRONG = {
    "people scatter": {"scatter_sd": 0.4, "leniency_sd": 0.15},
    "copiers like people": {"copied_sd": 0.2, "copied_own": 0.15, "copied_follow": 0.3},
    "hard key": {"accuracy": (0.75, 0.85), "question_sd": 1.5, "ability_sd": 0.8},
}


class Command(StudyCommand):
    help = (
        "Simulate campaigns with crowds that are partly careless, and print what each "
        "detector leaves in: careless ratings, bias and coverage of scores, honest "
        "workers excluded."
    )
    # No site is needed: numbers in, numbers out.

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--bad",
            type=float,
            nargs="+",
            default=[0.3, 0.6],
            help="shares of workers who are careless",
        )
        parser.add_argument(
            "--turning",
            type=int,
            nargs="+",
            default=[0],
            help="careful answers before the careless turn so; 0 is from the start",
        )
        parser.add_argument(
            "--detectors", nargs="+", default=list(DETECTORS), choices=DETECTORS
        )
        parser.add_argument("--workers", type=int, default=60)
        parser.add_argument("--systems", type=int, default=5)
        parser.add_argument("--instances", type=int, default=300)
        parser.add_argument(
            "--test-share",
            type=float,
            nargs="+",
            default=[0.25],
            help="shares of tests in the cost that staff approved",
        )
        parser.add_argument(
            "--wrong",
            action="store_true",
            help="also with crowds that differ from what the models presume",
        )
        parser.add_argument(
            "--site",
            action="store_true",
            help="run the campaigns through this site's own services, on its database, "
            "and undo them; half of the share of tests are positive ones",
        )
        parser.add_argument(
            "--segments",
            type=Path,
            help="CSV file with columns system, segment and raw (0 to 100): what the "
            "outputs deserve, in place of simulated ones",
        )
        parser.add_argument("--tasks", type=int, default=200, help="of each cell")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", type=Path, help="file for all numbers")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["site"] and settings.PRODUCTION:
            raise CommandError("A site at work is not the place for simulations.")
        else:
            self._campaigns(options)

    def _campaigns(self, options: dict[str, Any]) -> None:
        results: list[Named] = []
        deserved = None
        if options["segments"]:
            deserved = read_segments(options["segments"], options["systems"])
        for name, crowd in _crowds(options):
            for campaign in _campaigns(options):
                with working_copy() if options["site"] else nullcontext():
                    found = simulate_cleaning(
                        crowd,
                        campaign,
                        n_tasks=options["tasks"],
                        seed=options["seed"],
                        deserved=deserved,
                        run=site_campaign if options["site"] else run_campaign,
                    )
                results.append((name, found))
                # After each cell, so that an interrupted study keeps its results.
                write_json(options["json"], cleaned_document(results, options["seed"]))
                if options["verbosity"]:
                    self.stderr.write(f"{name}, {campaign.detector}")
        self.stdout.write(as_text([cleaned_sheet(results)]))


def _campaigns(options: dict[str, Any]) -> list[CampaignPlan]:
    return [
        CampaignPlan(detector, share_tests=share)
        for detector in options["detectors"]
        for share in options["test_share"]
    ]


def _crowds(options: dict[str, Any]) -> list[tuple[str, CrowdPlan]]:
    found = []
    for share in options["bad"]:
        for turning in options["turning"]:
            name = f"{100 * share:.0f} % bad"
            name += f", turning after {turning}" if turning else ""
            plan = CrowdPlan(
                share,
                turning,
                n_workers=options["workers"],
                n_systems=options["systems"],
                n_instances=options["instances"],
            )
            found.append((name, plan))
            if options["wrong"]:
                found += [
                    (f"{name}, {how}", replace(plan, **changes))  # type: ignore[arg-type]
                    for how, changes in WRONG.items()
                ]
    return found
