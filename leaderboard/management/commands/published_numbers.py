"""Keep published numbers with a task, to stand beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib.errors import GenieError
from leaderboard.papers.expected import read_expected
from leaderboard.papers.task_figures.computed import known
from leaderboard.papers.task_figures.keep import keep_published
from leaderboard.tasks.models import Task


class Command(BaseCommand):
    help = (
        "Keep a list of published numbers with a task: its page shows each of them "
        "beside ours. What was kept of the same tables is replaced. Without a file, "
        "list the figures that a number can be compared with."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?", help="the task")
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            help="JSON or CSV: id, value, tolerance, source, note, why",
        )
        parser.add_argument(
            "--part", default="", help="only ids that begin so: of a list for several"
        )
        parser.add_argument("--table", default="", help="where they are printed")
        parser.add_argument(
            "--figures", default="", help="the set that they are compared with: da, ..."
        )
        parser.add_argument(
            "--why", default="", help="why those that do not come out cannot"
        )
        parser.add_argument(
            "--clear", action="store_true", help="forget all of the task"
        )
        parser.add_argument("--dry-run", action="store_true", help="write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["slug"] is None:
            self._list()
            return
        task = Task.objects.filter(slug=options["slug"]).first()
        if task is None:
            raise CommandError(f"There is no task {options['slug']}.")
        if options["clear"]:
            n, _ = task.published_figures.all().delete()
            self.stdout.write(f"Forgot {n:,} published numbers of {task.slug}.")
            return
        if options["file"] is None:
            raise CommandError("Give a file with the published numbers, or --clear.")
        try:
            rows = keep_published(
                task,
                read_expected(options["file"]),
                part=options["part"],
                table=options["table"],
                figures=options["figures"],
                why=options["why"],
                dry_run=options["dry_run"],
            )
        except GenieError as error:
            raise CommandError(str(error)) from error
        said = "Would keep" if options["dry_run"] else "Kept"
        self.stdout.write(
            f"{said} {len(rows):,} published numbers with {task.slug}: "
            f"/tasks/{task.slug}/published/"
        )

    def _list(self) -> None:
        figures = known()
        width = max(map(len, figures))
        for slug, words in figures.items():
            self.stdout.write(f"{slug:{width}}  {words}")
