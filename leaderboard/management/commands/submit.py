import json
from datetime import date
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from leaderboard.files import open_file
from leaderboard.submissions.models import Submission, Team
from leaderboard.submissions.services import submit
from leaderboard.submissions.services.lifecycle import RUNNERS
from leaderboard.tasks.models import Task

State = Submission.State
# Until one of these states a submission proceeds automatically.
_UNDER_WAY = {State.RECEIVED, State.VALID}


class Command(BaseCommand):
    help = (
        "Submit a prediction file, like the site's form and the API. With "
        "--wait, run the queue until the metrics are computed. Exit code 0 means "
        "accepted (with --wait: measured), 1 refused, invalid, failed or too slow."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the benchmark task")
        parser.add_argument(
            "file",
            help="predictions as JSON, JSONL, TSV or lines, also .gz (-: standard input)",
        )
        parser.add_argument("--system", required=True, help="system name")
        parser.add_argument("--owner", required=True, help="user name of the submitter")
        parser.add_argument("--team", help="slug of one of the owner's teams")
        parser.add_argument("--description", default="")
        parser.add_argument("--link", action="append", default=[], dest="links")
        parser.add_argument("--private", action="store_true")
        parser.add_argument("--anonymous-until", type=date.fromisoformat)
        parser.add_argument(
            "--wait",
            action="store_true",
            help="run the queue until the metrics are computed",
        )
        parser.add_argument("--timeout", type=float, default=900.0, help="seconds")
        parser.add_argument(
            "--json",
            action="store_true",
            help="print one JSON object to standard output",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.n_told = 0
        try:
            submission = _receive(options)
        except GenieError as error:
            self._print(_refusal(error, options), options["json"])
            raise CommandError(one_line(error.message, 2_000)) from error
        if options["wait"]:
            jobs.drain(lambda: self._is_done(submission), seconds=options["timeout"])
        self._is_done(submission)
        outcome = report(submission)
        if options["wait"] and not is_measured(submission):
            outcome["errors"] += _what_stopped(submission, options["timeout"])
        self._print(outcome, options["json"])
        if options["wait"] and not is_measured(submission):
            raise CommandError(f"Submission {submission.pk} has not been measured.")

    def _is_done(self, submission: Submission) -> bool:
        submission.refresh_from_db()
        events = list(submission.events.order_by("pk"))
        for event in events[self.n_told :]:
            self.stderr.write(one_line(event.sentence, 500))
        self.n_told = len(events)
        if submission.state not in _UNDER_WAY or submission.failure_permanent:
            return True
        if submission.failed:
            # `advance` would do it within a minute; no other process may be running
            job = RUNNERS[submission.state].job
            jobs.enqueue_missing([(job, {"pk": submission.pk})])
        return False

    def _print(self, outcome: dict[str, Any], as_json: bool) -> None:
        if as_json:
            # on one line, and everything else on standard error: programs read this
            # output
            self.stdout.write(json.dumps(outcome))
            return
        name = f"Submission {outcome['id']}" if outcome["id"] else "Not accepted"
        self.stdout.write(f"{name}: {outcome['state']}")
        for metric, value in outcome["metrics"].items():
            self.stdout.write(f"  {metric:<12}{value:>10.2f}")
        for line in outcome["errors"]:
            self.stdout.write(
                f"  error {line['code']}: {one_line(line['message'], 2_000)}"
            )
        for line in outcome["warnings"]:
            self.stdout.write(
                f"  warning {line['code']}: {one_line(line['sentence'], 2_000)}"
            )


def is_measured(submission: Submission) -> bool:
    return submission.state not in _UNDER_WAY | {State.INVALID}


def report(submission: Submission) -> dict[str, Any]:
    rows = submission.metric_results.order_by("metric", "pk")
    return {
        "id": submission.pk,
        "state": submission.state,
        "task": submission.task.slug,
        "system": submission.system_name,
        "metrics": dict(rows.values_list("metric", "value")),
        "errors": list(submission.errors),
        "warnings": submission.warnings,
    }


def _what_stopped(submission: Submission, timeout: float) -> list[dict[str, Any]]:
    if submission.state == State.INVALID:
        return []  # its own errors are clear
    if submission.failed:
        return [
            _error(
                "step-failed", f"{submission.failed_step}: {submission.work.failure}"
            )
        ]
    sentence = (
        f"Not measured within {timeout:g} seconds; it continues when the queue runs."
    )
    return [_error("timed-out", sentence)]


def _refusal(error: GenieError, options: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": None,
        "state": "REFUSED",
        "task": options["slug"],
        "system": options["system"],
        "metrics": {},
        "errors": [_error(error.code, error.message)],
        "warnings": [],
    }


def _error(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "message": message, "count": 1, "examples": []}


def _receive(options: dict[str, Any]) -> Submission:
    task = Task.objects.filter(slug=options["slug"]).first()
    if task is None:
        raise GenieError(
            f"The task {options['slug']!r} is not loaded; load it with load_task.",
            code="unknown-task",
        )
    owner = get_user_model().objects.filter(username=options["owner"]).first()
    if owner is None:
        raise GenieError(f"There is no user {options['owner']!r}.", code="unknown-user")
    team = _team(owner, options["team"])
    path = Path(options["file"])
    with open_file(path) as file:
        return submit.receive(
            task=task,
            owner=owner,
            team=team,
            system_name=options["system"],
            file=file,
            file_name=path.name,
            description=options["description"],
            links=options["links"],
            visibility=Submission.Visibility.PRIVATE
            if options["private"]
            else Submission.Visibility.PUBLIC,
            anonymous_until=options["anonymous_until"],
        )


def _team(owner: Any, slug: str | None) -> Team:
    if slug is None:
        return submit.team_for(owner)
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise GenieError(f"There is no team {slug!r}.", code="unknown-team")
    return team
