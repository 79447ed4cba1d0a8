"""The command line: one verb, words for people, `--json` for programs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from genie_client import account, words
from genie_client.client import ENDED, MEASURED
from genie_client.problem import Problem
from genie_client.session import Session, place
from genie_client.version import VERSION


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; give the exit code."""
    for mode, stream in (("r", "stdin"), ("w", "stdout"), ("w", "stderr")):
        if getattr(sys, stream) is None:  # it was closed
            nothing = os.open(os.devnull, os.O_RDWR)
            setattr(sys, stream, os.fdopen(nothing, mode))
    parser = _parser()
    try:
        "".join(sys.argv[1:] if arguments is None else arguments).encode()
    except UnicodeEncodeError:
        parser.error("an argument is not in UTF-8")
    options = parser.parse_args(arguments)
    try:
        if not place(options)[0]:
            parser.error("set the site with --site or GENIE_SITE, or run login")
        # a command that always succeeds returns nothing
        code: int = options.run(Session(options)) or 0
        sys.stdout.flush()
        return code
    except Problem as problem:
        if options.json:
            body = {"error": problem.message, "code": problem.code, **problem.body}
            sys.stdout.write(json.dumps(body, ensure_ascii=False, indent=2) + "\n")
        sys.stderr.write(f"{problem.message}\n")
        return 1
    except OSError as error:
        _drop_output()
        # `| head` has read enough
        if isinstance(error, BrokenPipeError):
            return 0
        file = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"{file}{error.strerror}.\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130


def _drop_output() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        # Python would complain when it flushes at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tasks(session: Session) -> None:
    session.say(session.client.tasks(), words.tasks)


def _validate(session: Session) -> int:
    found = session.client.validate(session.options.task, session.options.file)
    session.say(found, words.validation)
    return 0 if found["valid"] else 1


def _submit(session: Session) -> int:
    given = session.options
    try:
        made = _send_submission(session)
    except Problem as problem:
        if problem.code != "team-required":
            raise
        problem.message += " Add --team and one of them."
        raise
    if given.watch:
        made = _watch(session, made["id"])
    session.say(made, words.submission)
    return 1 if _unusable(made) else 0


def _send_submission(session: Session) -> dict[str, Any]:
    given = session.options
    return session.client.submit(
        given.task,
        given.file,
        sent=session.bar("Uploading").show,
        system=given.system,
        description=given.description,
        links=given.link,
        team=given.team,
        private=given.private,
        anonymous_until=given.anonymous_until,
        entry=given.entry,
        organization=given.organization,
        weights=given.weights,
        parameters=given.parameters,
        licence=given.license,
    )


def _status(session: Session) -> int:
    number = session.options.submission
    found = (
        _watch(session, number)
        if session.options.watch
        else session.client.submission(number)
    )
    session.say(found, words.submission)
    return 1 if _unusable(found) else 0


def _watch(session: Session, number: int) -> dict[str, Any]:
    given = session.options
    with session.bar("Waiting") as bar:
        return session.client.wait(
            number,
            until=ENDED if given.until == "published" else MEASURED,
            every=given.every,
            seconds=given.wait,
            told=session.tell,
            looked=lambda found: bar.say(f"Waiting: {found['state']}"),
        )


def _unusable(found: dict[str, Any]) -> bool:
    failure = found.get("failure") or {}
    return found["state"] in {"INVALID", "DECLINED", "STOPPED"} or bool(
        failure.get("permanent")
    )


def _leaderboard(session: Session) -> None:
    rows = session.client.leaderboard(session.options.task, at=session.options.at)
    session.say(rows, words.leaderboard)


def _download(session: Session) -> None:
    given = session.options
    content = session.client.download(given.task, given.what, at=given.at)
    if given.out is None:
        sys.stdout.buffer.write(content)
        return
    given.out.write_bytes(content)
    found = {"file": str(given.out), "bytes": len(content)}
    session.say(found, lambda one: f"{one['file']}: {one['bytes']:,} bytes")


def _compare(session: Session) -> None:
    found = session.client.compare(session.options.first, session.options.second)
    session.say(found, words.comparison)


def _log(session: Session) -> None:
    file: Path | None = session.options.keep
    head = session.client.log_head(_read_head(file))
    if session.options.entry is not None:
        entry = session.client.log_entry(session.options.entry, head)
        session.say(entry, words.log_entry)
    else:
        session.say(head, words.log_head)
    if file is not None:
        # beside it first: a write that fails must not take what was kept
        new = file.with_name(f"{file.name}.new")
        new.write_text(json.dumps(head) + "\n", encoding="utf-8")
        new.replace(file)


def _read_head(file: Path | None) -> dict[str, Any] | None:
    if file is None or not file.exists():
        return None
    try:
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return {"size": int(kept["size"]), "root": str(kept["root"])}
    except (LookupError, OSError, TypeError, ValueError) as error:
        raise Problem(
            f"{file} does not contain the head of a log.", code="no-head"
        ) from error


def seconds(text: str) -> float:
    """Read a time that a socket and a clock can wait for."""
    number = float(text)
    if not 0.001 <= number <= 10**8:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be from 0.001 to 100,000,000 seconds"
        )
    return number


def _on_disk(text: str) -> Path:
    if text == "-":
        raise argparse.ArgumentTypeError(
            "a head cannot be kept on standard output; name a file (--json prints it)"
        )
    return Path(text)


def _place(text: str) -> Path | None:
    return None if text == "-" else Path(text)


# Arguments as argparse takes them: a name, and the rest.
_TASK: tuple[str, dict[str, Any]] = ("task", {})
_SUBMISSION = ("submission", {"type": int})
_FILE = ("file", {"type": Path, "help": "predictions (-: standard input)"})
_AT = ("--at", {"help": "a date or time in the past"})
_TEXT = {"default": ""}
# They may come before or after the command.
_COMMON = [
    ("--site", {"help": "address of the site (default: GENIE_SITE)"}),
    ("--token", {"help": "API token (default: GENIE_TOKEN)"}),
    ("--timeout", {"type": seconds, "help": "seconds for one request (default: 60)"}),
    ("--json", {"action": "store_true", "help": "print one JSON value"}),
]
_WATCH = [
    ("--watch", {"action": "store_true", "help": "wait and show progress"}),
    ("--until", {"choices": ["measured", "published"], "default": "measured"}),
    ("--every", {"type": seconds, "default": 5.0, "help": "seconds between checks"}),
    ("--wait", {"type": seconds, "default": 3600.0, "help": "maximum seconds to wait"}),
]
_COMMANDS: dict[str, tuple[Callable[[Session], int | None], str, list[Any]]] = {
    "tasks": (_tasks, "list the benchmark tasks", []),
    "login": (account.login, "store the site and your token on this machine", []),
    "logout": (account.logout, "remove the stored token", []),
    "whoami": (account.whoami, "show whose token this is, its scopes and teams", []),
    "mine": (
        account.mine,
        "list your teams' submissions",
        [("--task", {}), ("--state", {"help": "such as MEASURED or PUBLISHED"})],
    ),
    "withdraw": (
        account.withdraw,
        "withdraw a submission",
        [_SUBMISSION, ("--reason", _TEXT | {"help": "reason, visible to others"})],
    ),
    "restore": (account.restore, "undo a withdrawal, within a day", [_SUBMISSION]),
    "outputs": (
        account.outputs,
        "download a submission's outputs",
        [
            _SUBMISSION,
            ("--out", {"type": _place, "help": "JSON Lines file"}),
            (
                "--worst",
                {"action": "store_true", "help": "only rated outputs, worst first"},
            ),
        ],
    ),
    "validate": (_validate, "check a file without submitting it", [_TASK, _FILE]),
    "submit": (
        _submit,
        "submit a system's predictions",
        [
            _TASK,
            _FILE,
            ("--system", {"required": True, "help": "name on the leaderboard"}),
            ("--description", _TEXT),
            ("--link", {"action": "append", "default": []}),
            (
                "--team",
                {"help": "slug of your team; required if you are a member of several"},
            ),
            ("--private", {"action": "store_true"}),
            ("--anonymous-until", {"metavar": "DATE"}),
            ("--entry", _TEXT | {"choices": ["primary", "contrastive"]}),
            ("--organization", _TEXT | {"help": "who built the system"}),
            ("--weights", _TEXT | {"choices": ["open", "closed"]}),
            ("--parameters", _TEXT | {"help": "such as 7B or 8x22B"}),
            ("--license", _TEXT | {"help": "of the system"}),
            *_WATCH,
        ],
    ),
    "status": (_status, "show the state of a submission", [_SUBMISSION, *_WATCH]),
    "leaderboard": (_leaderboard, "show a leaderboard", [_TASK, _AT]),
    "download": (
        _download,
        "download a file of a task or its board",
        [
            _TASK,
            ("what", {"choices": ["sample", "csv", "json", "latex", "bibtex"]}),
            _AT,
            ("--out", {"type": _place, "help": "file (default and -: print it)"}),
        ],
    ),
    "compare": (
        _compare,
        "compare two submissions",
        [("first", {"type": int}), ("second", {"type": int})],
    ),
    "log": (
        _log,
        "check the site's public log",
        [
            (
                "--keep",
                {
                    "type": _on_disk,
                    "metavar": "FILE",
                    "help": "file with an earlier head to check against",
                },
            ),
            (
                "--entry",
                {
                    "type": int,
                    "metavar": "NUMBER",
                    "help": "show one entry and check it",
                },
            ),
        ],
    ),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="genie-client",
        description="Submit systems to a Genie leaderboard and read its results.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {VERSION}")
    _add(parser, _COMMON)
    parser.set_defaults(
        site=os.environ.get("GENIE_SITE", ""),
        # not shown in the list of processes when it comes from the environment
        token=os.environ.get("GENIE_TOKEN") or None,
        timeout=60.0,
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, (run, what, arguments) in _COMMANDS.items():
        made = commands.add_parser(name, help=what, description=what)
        made.set_defaults(run=run)
        # A default would replace what came before the command.
        _add(made, arguments)
        _add(made, _COMMON, default=argparse.SUPPRESS)
    return parser


def _add(parser: argparse.ArgumentParser, arguments: list[Any], **more: Any) -> None:
    for name, how in arguments:
        parser.add_argument(name, **how, **more)
