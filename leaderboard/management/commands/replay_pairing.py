"""Measure what asking first about the pairs that matter most saves, and how often it errs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from leaderboard.stats.active.deciding import Labels, PairByPair
from leaderboard.stats.active.propensities import CHOICES, soonest, uniform
from leaderboard.stats.comparisons import Comparisons
from leaderboard.stats.studies.pairing_study import (
    QUESTIONS,
    SUITED,
    Replays,
    false_decisions,
    savings,
    simulated_labels,
)
from leaderboard.table_stats.pairs.analyse import games_of
from leaderboard.table_stats.read import read_tables
from leaderboard.table_stats.simulated import (
    false_sheet,
    next_sheet,
    savings_sheet,
)
from leaderboard.table_stats.text import as_text

# Name, labels, their workers, and what the systems are called.
Crowd = tuple[str, Comparisons, npt.ArrayLike, list[str]]


class Command(BaseCommand):
    help = (
        "Replay labels of pairs of systems, asked uniformly and as a rule chooses after "
        "each batch, and print how many labels the rule saves and how often it decides "
        "between equal systems."
    )
    # numbers in, numbers out: no site has to be set up
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--data",
            type=Path,
            nargs="+",
            default=[],
            metavar="FILE",
            help="tables of pairs or ratings (see genie stats); simulated systems without",
        )
        parser.add_argument("--criteria", nargs="+", default=[], metavar="COLUMN")
        parser.add_argument("--systems", type=int, default=12, help="simulated ones")
        parser.add_argument("--workers", type=int, default=100, help="simulated ones")
        parser.add_argument(
            "--labels", type=int, help="of a run; as many as the file has, or 20,000"
        )
        parser.add_argument("--batch", type=int, help="labels; two for each pair")
        parser.add_argument(
            "--question",
            nargs="+",
            choices=[*QUESTIONS],
            default=["pair"],
            help="each pair by itself, or each system's share against all others",
        )
        parser.add_argument(
            "--choice",
            nargs="+",
            choices=[*CHOICES],
            default=[],
            help="rules that choose pairs; what suits the question if left out",
        )
        parser.add_argument(
            "--next",
            action="store_true",
            help="no replays: what these labels decide pair by pair, and with which chance "
            "the next label should be of each pair",
        )
        parser.add_argument("--delta", type=float, default=0.05)
        parser.add_argument("--replays", type=int, default=100)
        parser.add_argument("--null", type=int, default=1_000, help="replays of equals")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", type=Path, help="file for all numbers")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = self._next if options["next"] else self._study
            found = [study(crowd, options) for crowd in _crowds(options)]
        except (GenieError, ValueError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            content = {"seed": options["seed"], "crowds": found}
            options["json"].write_text(json.dumps(content, indent=1), encoding="utf-8")

    def _next(self, crowd: Crowd, options: dict[str, Any]) -> dict[str, Any]:
        name, games, _, systems = crowd
        deciding = PairByPair(games.n_systems, delta=options["delta"])
        # what a pair is decided on does not depend on how pairs were drawn
        who, evenly = np.zeros_like(games.first), uniform(deciding)
        deciding.add(Labels(games.first, games.second, games.outcome, who, evenly))
        chances = soonest(deciding)
        self.stdout.write(as_text([next_sheet(name, systems, deciding, chances)]))
        return {
            "crowd": name,
            "systems": systems,
            "better": deciding.better.tolist(),
            "propensities": chances.tolist(),
        }

    def _study(self, crowd: Crowd, options: dict[str, Any]) -> dict[str, Any]:
        name, games, workers, _ = crowd
        runs, wrong = [], []
        for how in _runs(games, options):
            seed = options["seed"]
            n = options["replays"]
            runs.append((how, savings(games, workers, how, n_replays=n, seed=seed)))
            for labels in ("independent", "tastes") if options["null"] else ():
                one = false_decisions(
                    games,
                    workers,
                    how,
                    n_replays=options["null"],
                    seed=seed,
                    tastes=labels == "tastes",
                )
                wrong.append((how, labels, one))
        sheets = [savings_sheet(name, games.n_systems, runs)]
        sheets += [false_sheet(name, wrong)] if wrong else []
        self.stdout.write(as_text(sheets))
        return {
            "crowd": name,
            "n_systems": games.n_systems,
            "savings": [{**asdict(how), **asdict(one)} for how, one in runs],
            "false": [
                {**asdict(how), "labels": labels, **asdict(one)}
                for how, labels, one in wrong
            ],
        }


def _crowds(options: dict[str, Any]) -> list[Crowd]:
    if not options["data"]:
        n = options["labels"] or 20_000
        games = simulated_labels(options["systems"], n, seed=options["seed"])
        # pages of simulated workers come in turn: they have no tastes of their own
        workers = np.arange(n) % options["workers"]
        names = [f"S{i + 1}" for i in range(games.n_systems)]
        return [(f"{options['systems']} simulated systems", games, workers, names)]
    found: list[Crowd] = []
    for path in options["data"]:
        for table in read_tables([path], options["criteria"]):
            games, workers, systems = games_of(table)
            name = ", ".join(filter(None, (path.name.split(".")[0], table.criterion)))
            found.append((name, games, workers, systems))
    return found


def _runs(games: Comparisons, options: dict[str, Any]) -> list[Replays]:
    n_labels = options["labels"] or len(games.first)
    batch = options["batch"] or games.n_systems * (games.n_systems - 1)
    return [
        Replays(question, choice, options["delta"], n_labels, batch)
        for question in options["question"]
        for choice in options["choice"] or [SUITED[question]]
    ]
