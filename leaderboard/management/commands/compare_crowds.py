"""Compare two crowds on the same systems: a task's pools, or two files."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.lib.errors import GenieError
from genie.management import RefusingCommand
from genie.upkeep.engines import working_copy
from leaderboard.boards.selectors.certainty import pools_of
from leaderboard.imports.readers import options as of_files
from leaderboard.table_stats.two_crowds import as_lines, compare_tables
from leaderboard.tasks.models import Task


class Command(RefusingCommand):
    refusals = (GenieError, ValueError)
    help = (
        "Compare two crowds on the systems that both rated: differences of scores, "
        "ranks, correlation, variance components, and a test of whether their workers "
        "are draws from one population, with the smallest difference that it finds."
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
            help="ratings as they are, or logarithms of magnitudes",
        )
        parser.add_argument("--seed", type=int, default=0, help="of the exchanges")

    def handle(self, *args: Any, **options: Any) -> None:
        crowds: list[str] = options["crowds"]
        if len(crowds) > 2:
            raise CommandError("Give a task, or two files.")
        with working_copy():
            lines = _of_task(crowds[0]) if len(crowds) == 1 else _of_files(options)
        self.stdout.write("\n".join(lines))


def _of_task(slug: str) -> list[str]:
    task = Task.objects.filter(slug=slug).first()
    if task is None:
        raise GenieError(f"There is no task {slug!r}.", code="not-found")
    pools = pools_of(task)
    if not pools:
        raise GenieError(
            f"No system of {task.title} was rated on two platforms.",
            code="nothing-to-compare",
        )
    return [
        line
        for one in pools
        for line in as_lines((one.first, one.second), one.criterion, one.comparison)
    ]


def _of_files(options: dict[str, Any]) -> list[str]:
    first, second = map(Path, options["crowds"])
    found = compare_tables(
        first,
        second,
        of_files.choices_of(options),
        scale=options["scale"],
        seed=options["seed"],
    )
    names = (first.name, second.name)
    return [line for name, one in found for line in as_lines(names, name, one)]
