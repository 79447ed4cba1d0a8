"""Check how certain the ranks of any leaderboard are, without a database."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from genie.management import RefusingCommand, add_json
from leaderboard.files import open_file
from leaderboard.table_stats.rank_audit.read import read_scores
from leaderboard.table_stats.rank_audit.report import audit, document, sheet, sign
from leaderboard.table_stats.report import as_latex
from leaderboard.table_stats.text import as_text


class Command(RefusingCommand):
    help = (
        "Audit the ranks of a leaderboard from scores of each system on each item, by "
        "people or programs. Prints clusters and each system's possible ranks, and "
        "can write a badge."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            metavar="FILE",
            help="CSV, TSV, JSON, Excel or Parquet: one column per system and one row "
            "per item (or the reverse), or columns named system, item and score",
        )
        parser.add_argument("--lower-is-better", action="store_true")
        parser.add_argument("--latex", action="store_true", help="print a LaTeX table")
        add_json(parser)
        parser.add_argument(
            "--badge", type=Path, metavar="OUT", help="SVG file for the badge"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        with open_file(path) as file:
            scores = read_scores(file, path.name)
        found = audit(scores, lower_is_better=options["lower_is_better"])
        write = as_latex if options["latex"] else as_text
        self.print_results(
            write([sheet(found)]),
            options,
            document(found),
            badge=lambda: str(sign(found)),
        )
