"""Measure how often a board's intervals and comparisons hold, by simulation."""

from itertools import product
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.management import add_json
from genie_research.boards.crowd_simulation import Crowd, CrowdResult, simulate_crowd
from genie_research.boards.half_crowds import HalfCrowds, half_crowds
from genie_research.boards.simulated import (
    crowd_document,
    crowd_sheet,
    halves_document,
    halves_sheet,
)
from genie_research.files import without_nan, write_json
from genie_research.management import StudyCommand
from leaderboard.imports.readers import options as of_files
from leaderboard.table_stats.analysis import SCALES, rescale
from leaderboard.table_stats.read import Pairs, Ratings, read_tables
from leaderboard.table_stats.text import as_text

CROWDS = ("same", "fresh")


class Command(StudyCommand):
    help = (
        "Simulate crowds that rate equally good systems and print coverage of the 95% "
        "interval, false separations, bias, error against the plain mean, width and "
        "cost; with --half-crowds, split real crowds at random instead."
    )
    # No site is needed: numbers in, numbers out.

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workers", type=int, nargs="+", default=[30, 60, 200])
        parser.add_argument(
            "--bias",
            type=float,
            nargs="+",
            default=[0.0, 10.0, 15.0],
            help="standard deviations of strictness",
        )
        parser.add_argument("--instances", type=int, nargs="+", default=[300, 800])
        parser.add_argument(
            "--crowds",
            nargs="+",
            default=list(CROWDS),
            choices=CROWDS,
            help="the same crowd rates all systems, or each of two has a fresh one",
        )
        parser.add_argument("--systems", type=int, default=5, help="of the same crowd")
        parser.add_argument(
            "--workload",
            type=float,
            default=1.0,
            help="standard deviation of the logarithm of workers' shares",
        )
        parser.add_argument(
            "--spread",
            type=float,
            default=0.0,
            help="standard deviation of the logarithm of workers' scatter",
        )
        parser.add_argument(
            "--taste",
            type=float,
            default=0.0,
            help="standard deviation of how much more a worker likes a system than others",
        )
        parser.add_argument("--days", type=int, nargs="+", default=[1])
        parser.add_argument(
            "--day-sd",
            type=float,
            nargs="+",
            default=[0.0],
            help="standard deviations of days' effects, with several days",
        )
        parser.add_argument("--tasks", type=int, default=1_000, help="of each cell")
        parser.add_argument("--cents", type=float, default=12.0, help="of one rating")
        parser.add_argument(
            "--half-crowds",
            type=Path,
            nargs="+",
            default=[],
            metavar="FILE",
            help="tables of ratings (see genie stats), each a crowd to be halved",
        )
        parser.add_argument("--splits", type=int, default=200)
        of_files.add_arguments(parser)
        parser.add_argument("--scale", choices=SCALES, default="value")
        parser.add_argument("--seed", type=int, default=0)
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["half_crowds"]:
            self._halves(options)
        else:
            self._crowds(options)

    def _crowds(self, options: dict[str, Any]) -> None:
        cells = _cells(options)
        results: list[CrowdResult] = []
        for number, cell in enumerate(cells, 1):
            seed = options["seed"]
            results.append(simulate_crowd(cell, n_tasks=options["tasks"], seed=seed))
            # After each cell, so that an interrupted study of hours keeps its results.
            write_json(options["json"], crowd_document(results, seed))
            self._tell(f"cell {number} of {len(cells)}", options)
        self.print_results(
            as_text([crowd_sheet(results, cents=options["cents"])]),
            options,
            without_nan(crowd_document(results, options["seed"])),
        )

    def _halves(self, options: dict[str, Any]) -> None:
        found: list[tuple[str, HalfCrowds]] = []
        for path in options["half_crowds"]:
            for table in read_tables([path], of_files.choices_of(options)):
                if isinstance(table, Pairs):
                    raise CommandError(f"{path.name} has pairs; halves need ratings.")
                name = ", ".join(
                    filter(None, (path.name.split(".")[0], table.criterion))
                )
                found.append((name, self._half(table, options)))
                write_json(options["json"], halves_document(found, options["seed"]))
                self._tell(name, options)
        self.print_results(
            as_text([halves_sheet(found)]),
            options,
            without_nan(halves_document(found, options["seed"])),
        )

    def _half(self, table: Ratings, options: dict[str, Any]) -> HalfCrowds:
        labels = table.labels
        if "instance" not in labels:
            raise CommandError("Halves need a column of instances.")
        return half_crowds(
            rescale(table, options["scale"]),
            labels["system"].codes,
            labels["worker"].codes,
            labels["instance"].codes,
            n_splits=options["splits"],
            seed=options["seed"],
        )

    def _tell(self, text: str, options: dict[str, Any]) -> None:
        if options["verbosity"]:
            self.stderr.write(text)


def _cells(options: dict[str, Any]) -> list[Crowd]:
    crossed = product(
        options["crowds"],
        options["workers"],
        options["bias"],
        options["instances"],
        options["days"],
        options["day_sd"],
    )
    return [
        Crowd(
            n_workers,
            bias,
            n_instances,
            n_systems=options["systems"] if kind == "same" else 2,
            workload_sd=options["workload"],
            spread_sd=options["spread"],
            same=kind == "same",
            n_days=n_days,
            day_sd=day_sd,
            taste_sd=options["taste"],
        )
        for kind, n_workers, bias, n_instances, n_days, day_sd in crossed
        # One day shifts all ratings equally, without a visible effect.
        if n_days > 1 or day_sd == min(options["day_sd"])
    ]
