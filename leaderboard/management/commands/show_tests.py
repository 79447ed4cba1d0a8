"""Show every test question of a task's next campaign, without storing it."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.management import RefusingCommand, add_json, find_row
from leaderboard.evaluation.services.hidden.preview import Part, latest, previews
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task


class Command(RefusingCommand):
    help = (
        "Show the test questions that would be asked now, with the change in each "
        "text and the correct answers. Nothing is stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", help="slug of a loaded task")
        parser.add_argument(
            "--submission",
            type=int,
            help="number of a submission (default: the task's newest)",
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        task = find_row(Task.objects.all(), "task", slug=options["task"])
        submission = self._submission(task, options["submission"])
        parts = list(previews(task, submission))
        lines = [line for part in parts for line in _lines(part)]
        self.print_results("\n".join(lines), options, [*map(asdict, parts)])

    def _submission(self, task: Task, pk: int | None) -> Submission | None:
        if pk is None:
            return latest(task)
        if (found := task.submissions.filter(pk=pk).first()) is None:
            raise CommandError(f"{task.title} has no submission {pk}.")
        return found


def _lines(part: Part) -> Iterator[str]:
    yield f"On {', '.join(part.criteria)}:"
    yield from (f"  Note: {note}" for note in part.notes)
    for question in part.questions:
        yield f"\n  {question.kind}"
        yield from (f"    {label}: {text}" for label, text in question.shown)
        if question.edit:
            yield f"    Changed: {question.edit}"
        for criterion, right in question.right:
            yield f"    Right on {criterion}: {right}"
