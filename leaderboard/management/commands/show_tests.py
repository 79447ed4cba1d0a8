"""Show every test question of a task's next campaign, without storing it."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from genie.management import RefusingCommand
from leaderboard.evaluation.services.hidden.preview import latest, previews
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task


class Command(RefusingCommand):
    help = (
        "Show the test questions that would be asked now, with what was changed in "
        "each text and which answers count as right. Nothing is stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", help="slug of a loaded task")
        parser.add_argument(
            "--submission",
            type=int,
            help="number of a submission; by default the newest of the task",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        task = Task.objects.filter(slug=options["task"]).first()
        if task is None:
            raise CommandError(f"There is no task {options['task']!r}.")
        submission = self._submission(task, options["submission"])
        for part in previews(task, submission):
            self.stdout.write(f"On {', '.join(part.criteria)}:")
            for note in part.notes:
                self.stdout.write(f"  Note: {note}")
            for question in part.questions:
                self.stdout.write(f"\n  {question.kind}")
                for label, text in question.shown:
                    self.stdout.write(f"    {label}: {text}")
                if question.edit:
                    self.stdout.write(f"    Changed: {question.edit}")
                for criterion, right in question.right:
                    self.stdout.write(f"    Right on {criterion}: {right}")

    def _submission(self, task: Task, pk: int | None) -> Submission | None:
        if pk is None:
            return latest(task)
        submission = task.submissions.filter(pk=pk).first()
        if submission is None:
            raise CommandError(f"{task.title} has no submission {pk}.")
        return submission
