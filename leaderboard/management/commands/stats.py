"""Analyze a table of ratings or pairs, without a database."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from leaderboard.imports.readers import options as of_files
from leaderboard.stats.systems.estimates import Population
from leaderboard.table_stats.analysis import SCALES, analyse
from leaderboard.table_stats.page import as_page, picture
from leaderboard.table_stats.pairs import analyse_pairs
from leaderboard.table_stats.read import Pairs, read_tables
from leaderboard.table_stats.report import as_latex, document, sheets
from leaderboard.table_stats.text import as_text

_ASSUMED = "Raters like these were assumed: use --raters to declare these or like."


class Command(BaseCommand):
    help = (
        "Estimate and rank systems from a table of ratings or pairs: intervals that "
        "cover other workers and instances, z per worker, clusters, agreement, variance "
        "components, what a next study needs. Several files are read as one table."
    )
    # it reads a file and prints: no site has to be set up

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files",
            nargs="+",
            type=Path,
            metavar="FILE",
            help="CSV, TSV, JSON, JSON Lines, Excel or Parquet, packed or not; or a folder",
        )
        of_files.add_arguments(parser)
        parser.add_argument(
            "--scale",
            choices=SCALES,
            default="value",
            help="ratings as they are, logarithms of magnitudes, or ranks on a page",
        )
        of_files.add_raters(parser)
        parser.add_argument("--seed", type=int, default=0, help="of the bootstrap")
        parser.add_argument("--latex", action="store_true", help="print LaTeX tables")
        parser.add_argument("--html", type=Path, metavar="OUT", help="file for a page")
        parser.add_argument(
            "--json", type=Path, metavar="OUT", help="file for all numbers"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        files: list[Path] = options["files"]
        population = Population(options["raters"] or Population.LIKE)
        try:
            found = [
                analyse_pairs(table, population=population)
                if isinstance(table, Pairs)
                else analyse(
                    table,
                    seed=options["seed"],
                    scale=options["scale"],
                    population=population,
                )
                for table in read_tables(files, of_files.choices_of(options))
            ]
        except (GenieError, ValueError) as error:
            raise CommandError(one_line(str(error), 4_000)) from error
        if not options["raters"]:
            found = [replace(one, notes=(*one.notes, _ASSUMED)) for one in found]
        named = [(one, sheets(one)) for one in found]
        everything = [sheet for _, own in named for sheet in own]
        self.stdout.write(
            as_latex(everything) if options["latex"] else as_text(everything)
        )
        if options["html"]:
            title = ", ".join(path.name for path in files)
            self._write(
                options["html"], as_page(title, [(picture(a), s) for a, s in named])
            )
        if options["json"]:
            content = document(found, [path.name for path in files])
            text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
            self._write(options["json"], text + "\n")

    def _write(self, path: Path, text: str) -> None:
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error}.") from error
        self.stderr.write(f"Wrote {path}.")
