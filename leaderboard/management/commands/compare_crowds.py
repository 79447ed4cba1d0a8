"""Compare two crowds on the same systems: a task's pools, or two files."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.lib.errors import GenieError
from genie.management import RefusingCommand, add_json, find_row
from genie.upkeep.engines import working_copy
from leaderboard.boards.selectors.certainty import TwoPools, pools_of
from leaderboard.imports.readers import options as of_files
from leaderboard.table_stats.two_crowds import as_lines, compare_tables
from leaderboard.tasks.models import Task


class Command(RefusingCommand):
    refusals = (GenieError, ValueError)
    help = (
        "Compare two crowds on the systems that both rated: differences of scores, "
        "ranks, correlation, variance components, and a test of whether their workers "
        "are drawn from one population, with the smallest difference that it can "
        "detect."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "crowds",
            nargs="+",
            metavar="TASK | FILE_A FILE_B",
            help="a task's slug, or two tables of ratings (see genie stats)",
        )
        of_files.add_arguments(parser)
        parser.add_argument(
            "--scale",
            choices=("value", "log"),
            default="value",
            help="use the ratings, or logarithms of magnitudes",
        )
        parser.add_argument(
            "--seed", type=int, default=0, help="random seed for the exchanges"
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        crowds: list[str] = options["crowds"]
        if len(crowds) > 2:
            raise CommandError("Give a task, or two files.")
        if len(crowds) == 2:
            found = _of_files(options)
        else:
            with working_copy():
                found = _of_task(crowds[0])
        lines = [
            line
            for one in found
            for line in as_lines((one.first, one.second), one.criterion, one.comparison)
        ]
        self.print_results("\n".join(lines), options, [*map(asdict, found)])


def _of_task(slug: str) -> list[TwoPools]:
    task = find_row(Task.objects.all(), "task", slug=slug)
    pools = pools_of(task)
    if not pools:
        raise GenieError(
            f"No system of {task.title} was rated on two platforms.",
            code="nothing-to-compare",
        )
    return pools


def _of_files(options: dict[str, Any]) -> list[TwoPools]:
    first, second = map(Path, options["crowds"])
    found = compare_tables(
        first,
        second,
        of_files.choices_of(options),
        scale=options["scale"],
        seed=options["seed"],
    )
    return [TwoPools(name, first.name, second.name, one) for name, one in found]
