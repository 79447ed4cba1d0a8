"""Check how certain the ranks of any leaderboard are, without a database."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from leaderboard.table_stats.rank_audit.read import read_scores
from leaderboard.table_stats.rank_audit.report import audit, document, sheet, sign
from leaderboard.table_stats.report import as_latex
from leaderboard.table_stats.text import as_text


class Command(BaseCommand):
    help = (
        "Audit the ranks of a leaderboard from a score for each system and item, by "
        "people or programs: clusters, the ranks that each system may hold, a badge."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            metavar="FILE",
            help="CSV, TSV, JSON, Excel or Parquet: a column for each system and a row for each item, or "
            "the other way round, or columns named system, item and score",
        )
        parser.add_argument("--lower-is-better", action="store_true")
        parser.add_argument("--latex", action="store_true", help="print a LaTeX table")
        parser.add_argument(
            "--json", type=Path, metavar="OUT", help="file for all numbers"
        )
        parser.add_argument("--badge", type=Path, metavar="OUT", help="file for an SVG")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            with path.open("rb") as file:
                scores = read_scores(file, path.name)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except GenieError as error:
            raise CommandError(str(error)) from error
        found = audit(scores, lower_is_better=options["lower_is_better"])
        write = as_latex if options["latex"] else as_text
        self.stdout.write(write([sheet(found)]))
        if options["json"]:
            text = json.dumps(document(found), indent=1, ensure_ascii=False)
            options["json"].write_text(text + "\n", encoding="utf-8")
        if options["badge"]:
            options["badge"].write_text(str(sign(found)), encoding="utf-8")
