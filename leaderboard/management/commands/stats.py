"""Analyze a table of ratings or pairs, without a database."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from genie.lib.errors import GenieError
from genie.management import RefusingCommand, add_json
from leaderboard.imports.readers import options as of_files
from leaderboard.stats.systems.estimates import Population
from leaderboard.table_stats.analysis import SCALES, analyse
from leaderboard.table_stats.page import as_page, picture
from leaderboard.table_stats.pairs import analyse_pairs
from leaderboard.table_stats.read import Pairs, read_tables
from leaderboard.table_stats.report import as_latex, document, sheets
from leaderboard.table_stats.text import as_text

_ASSUMED = (
    "Assumed that results are about raters like these. To change this, use --raters "
    "(these or like)."
)


class Command(RefusingCommand):
    refusals = (GenieError, ValueError)
    help = (
        "Estimate and rank systems from a table of ratings or pairs: intervals that "
        "cover other workers and instances, z-scores per worker, clusters, agreement, "
        "variance components, and the size of a next study. Several files are read as "
        "one table."
    )
    # it reads a file and prints: no site has to be set up

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files",
            nargs="+",
            type=Path,
            metavar="FILE",
            help="CSV, TSV, JSON, JSON Lines, Excel or Parquet files, compressed or "
            "not, a folder, or - for standard input",
        )
        of_files.add_arguments(parser)
        parser.add_argument(
            "--scale",
            choices=SCALES,
            default="value",
            help="use ratings, logarithms of magnitudes, or ranks on a page",
        )
        of_files.add_raters(parser)
        parser.add_argument(
            "--seed", type=int, default=0, help="random seed of the bootstrap"
        )
        parser.add_argument("--latex", action="store_true", help="print LaTeX tables")
        parser.add_argument(
            "--html", type=Path, metavar="OUT", help="HTML file for the report"
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        files: list[Path] = options["files"]
        population = Population(options["raters"] or Population.LIKE)
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
        if not options["raters"]:
            found = [replace(one, notes=(*one.notes, _ASSUMED)) for one in found]
        named = [(one, sheets(one)) for one in found]
        everything = [sheet for _, own in named for sheet in own]
        names = [path.name for path in files]
        self.print_results(
            as_latex(everything) if options["latex"] else as_text(everything),
            options,
            document(found, names),
            html=lambda: as_page(", ".join(names), [(picture(a), s) for a, s in named]),
        )
