import time
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from genie.lib.env import ConfigurationError
from genie.lib.errors import GenieError
from genie.management import STREAM, RefusingCommand, add_json, find_row
from leaderboard.files import read_file
from leaderboard.judges.definition import MODES, POINTWISE, SCRIPTED
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.scripted import SCRIPTS
from leaderboard.judges.selectors.told import cents, data_sent, progress
from leaderboard.judges.services import ask, decide, define
from leaderboard.judges.services.work import work
from leaderboard.tasks.models import Task

_PAUSE = 0.5
_WRONG_TYPES = (AttributeError, TypeError, ArithmeticError)
_PACE = {"per_minute", "at_once", "timeout_seconds", "n_retries", "family"}


class Command(RefusingCommand):
    refusals = (GenieError, ConfigurationError)
    help = (
        "Have a judge answer the raters' questions about a task's systems. Without "
        "--send, the command only shows the price and the data that would be sent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--task", required=True, help="slug of a task")
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("--judge", type=Path, help="TOML file of a judge")
        who.add_argument(
            "--script",
            choices=list(SCRIPTS),
            help="use one of this site's scripts instead",
        )
        parser.add_argument(
            "--send",
            action="store_true",
            help="send the requests (default: only show the price)",
        )
        parser.add_argument(
            "--most-cents",
            type=int,
            help="spending limit in cents (required for paid endpoints)",
        )
        parser.add_argument("--instances", type=int, help="maximum number of instances")
        parser.add_argument(
            "--per-page", type=int, help="outputs per page in joint mode"
        )
        parser.add_argument(
            "--mode", choices=MODES, default=POINTWISE, help="of a script"
        )
        parser.add_argument("--criteria", nargs="+", default=[])
        parser.add_argument(
            "--references", action="store_true", help="send hidden references, too"
        )
        parser.add_argument(
            "--private", action="store_true", help="send private outputs, too"
        )
        parser.add_argument(
            "--audit",
            type=int,
            nargs="?",
            const=ask.AUDITED,
            default=0,
            help="send this many outputs again with planted commands, as required for "
            f"a license (default without a number: {ask.AUDITED})",
        )
        parser.add_argument(
            "--occasion", default="", help="repeat questions that were answered before"
        )
        parser.add_argument("--by", help="user responsible for the scores of a task")
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        task = find_row(Task.objects.all(), "task", slug=options["task"])
        users = get_user_model().objects.all()
        name = options["by"]
        by = find_row(users, "user", username=name) if name else None
        wish = ask.Wish(
            criteria=options["criteria"],
            n_instances=options["instances"],
            per_page=options["per_page"],
            with_references=options["references"],
            with_private=options["private"],
            occasion=options["occasion"],
            audit=options["audit"],
        )
        name, version, made, prices, pace = _read_options(options)
        say = self.stderr.write if options["json"] == STREAM else self.stdout.write
        # a run that is not sent leaves no rows
        with transaction.atomic():
            judge = define.make(name, version, made, by=by, **prices, **pace)
            run = ask.ask(judge, task, wish, by=by)
            sent = data_sent(run)
            say("\n".join([judge.signature, *sent]))
            if options["send"]:
                decide.approve(
                    run,
                    by=by,
                    cents=spending_limit(run.most_cents, options["most_cents"]),
                    references=run.with_references,
                    private=run.with_private,
                )
            else:
                transaction.set_rollback(True)
        found = {
            "judge": judge.signature,
            "data": sent,
            "expected_cents": run.expected_cents,
            "at_most_cents": run.most_cents,
        }
        if options["send"]:
            found |= run_here(run, say)
        else:
            say("No requests were sent. Use --send to send them.")
        self.print_results("", options, found)


def run_here(run: JudgeRun, say: Callable[[str], Any]) -> dict[str, Any]:
    run.refresh_from_db()
    while run.state == JudgeRun.State.RUNNING:
        work(run.pk)
        run.refresh_from_db()
        if run.next_at > timezone.now():  # a queue has it
            time.sleep(_PAUSE)
    told = progress(run)
    say(
        f"Run {run.pk} is {run.get_state_display()}. {run.failure} "
        f"{told.answered:,} answered, {told.invalid:,} without a valid answer, "
        f"of {told.n:,}; spent {cents(told.spent_cents)}."
    )
    for one in told.problems:
        say(f"  {one['n']:,} × {one['problem']}")
    return {
        "run": run.pk,
        "state": run.state,
        "spent_cents": told.spent_cents,
        "n_answered": told.answered,
        "n_invalid": told.invalid,
        "problems": told.problems,
    }


def spending_limit(most: int, said: int | None) -> int:
    if most and said is None:
        raise CommandError("This costs money. Set a limit with --most-cents.")
    return said or 0


def _read_options(options: dict[str, Any]) -> tuple[str, str, Any, Any, Any]:
    if script := options["script"]:
        mode = options["mode"]
        made = {"endpoint": SCRIPTED, "model": script, "mode": mode}
        version = "1" if mode == POINTWISE else f"1-{mode}"
        return script, version, made, {}, {"per_minute": 0}
    return read_judge(options["judge"])


def read_judge(path: Path) -> tuple[str, str, Any, Any, Any]:
    """Read name, version, definition, prices and pace; or raise CommandError."""
    text = read_file(path)
    try:
        said = tomllib.loads(text, parse_float=Decimal)
        made = {
            name: float(value) if isinstance(value, Decimal) else value
            for name, value in said["definition"].items()
        }
        prices = {
            name: Decimal(said.get(name, 0)) for name in ("input_price", "output_price")
        }
        pace = {name: said[name] for name in _PACE & set(said)}
        return said["name"], said["version"], made, prices, pace
    except (LookupError, ValueError, *_WRONG_TYPES) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else f"{error}"
        raise CommandError(
            f"{path} does not define a judge ({why}). See docs/judge-definitions.md."
        ) from error
