from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.management import RefusingCommand, add_json
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.load import load_task

_KINDS = ("added", "removed", "changed")


class Command(RefusingCommand):
    help = (
        "Load a benchmark task from its official release. Loading the same release "
        "again changes no data. A changed release is refused, with a list of the "
        "differences."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="task, a folder in leaderboard/tasks/shipped/")
        parser.add_argument(
            "--source", help="folder of the release; not needed for demo tasks"
        )
        parser.add_argument(
            "--reader",
            help="the release's layout, if it differs from the one in task.toml",
        )
        parser.add_argument(
            "--hide-references",
            action="store_true",
            help="hide the references on all pages, in the API and in exports",
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        slug, source = options["slug"], options["source"]
        # compared afterwards: the same release may still have a changed task.toml
        before = Task.objects.filter(slug=slug).values().first()
        report = load_task(
            slug,
            _source(source),
            hide_references=options["hide_references"],
            reader=options["reader"],
        )
        hidden = "hidden" if report.task.hidden_references else "open"
        loaded = f"{report.n_instances:,} instances, references {hidden}"
        if report.created:
            text = f"Loaded {slug}: {loaded}."
        elif Task.objects.filter(slug=slug).values().first() == before:
            text = (
                f"{slug} is already loaded from this release ({loaded}) and has not "
                "changed."
            )
        else:
            text = (
                f"{slug} is already loaded from this release ({loaded}). Its "
                "description and settings now follow task.toml and the options."
            )
        found = {
            "task": slug,
            "created": report.created,
            "n_instances": report.n_instances,
            "references": hidden,
        }
        self.print_results(text, options, found)

    def refusal(self, error: GenieError) -> str:
        if error.code == "unusable-task":
            wrong = [
                f"  {one_line(': '.join(problem), 400)}"
                for problem in error.details["problems"]
            ]
            return "\n".join(
                ["The task was not loaded, because task.toml has errors.", *wrong]
            )
        if error.code != "release-changed":
            return one_line(error.message, 4_000)
        lines = ["The release differs from the loaded one, so it was not loaded."]
        for kind in _KINDS:
            n, named = error.details[f"n_{kind}"], error.details[kind]
            shown = ", ".join(one_line(key, 80) for key in named)
            more = ", …" if n > len(named) else ""
            lines.append(f"  {kind:<8}{n:>6,}{'  ' if named else ''}{shown}{more}")
        lines.append(
            "Scores on different instances cannot share a leaderboard. Load it under a "
            "different slug."
        )
        return "\n".join(lines)


def _source(source: str | None) -> Path | str | None:
    if source is None:
        return None
    path = Path(source).expanduser()
    return path if path.exists() else source
