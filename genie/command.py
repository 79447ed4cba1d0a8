"""The command `genie`: every command of `manage.py`, and a help for beginners."""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_APPS = ("genie", "leaderboard", "quality", "crowd")
# The most needed commands in order. Other commands are listed below these.
GROUPS: dict[str, dict[str, str]] = {
    "Start": {
        "up": "make a site in this folder, or start the one that is here",
        "demo": "show Genie at work: four small tasks and simulated annotators",
    },
    "Your own evaluation": {
        "new": "make a task of files of outputs, and start it",
        "load-task": "load a task or read it again",
        "export-task": "write a task to a folder or a zip file",
        "import-task": "read a task from a folder or a zip file",
        "import-judgments": "give judgments that were made elsewhere a board",
        "submit": "submit a system's predictions",
        "preview-template": "look at the page that workers will see",
        "show-tests": "look at the test questions that a task would hide",
    },
    "Results": {
        "stats": "statistics of any table of ratings or comparisons, without a site",
        "judge": "let a program judge texts or a task, after its price",
        "release": "write a task's data as an archive that others can check",
        "rebuild": "compute every number of such an archive again",
    },
    "Run a site": {
        "work": "run the queue, and restart it when it stops",
        "migrate": "bring the database up to date after an upgrade",
        "createsuperuser": "make an account for staff",
        "token": "make an API token for an account",
        "collectstatic": "collect the static files for production",
        "backup": "write the whole site into one file",
        "restore": "bring a site back from such a file",
        "doctor": "examine the site: one line for each part",
        "check": "look for problems; --deploy asks what production needs",
    },
}
# SQLite's and PostgreSQL's errors for tables or columns without a migration.
_NO_TABLES = ("no such table", "no such column", "does not exist")
_LONG = {"up", "demo"}
_DJANGO = {"migrate", "createsuperuser", "collectstatic", "check"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "genie.settings")
    words = sys.argv[1:]
    if not words or words in (["help"], ["--help"], ["-h"]):
        sys.stdout.write(overview())
    elif words == ["--version"]:
        sys.stdout.write(f"{_version()}\n")
    else:
        if words[0] in _LONG and "--help" not in words:
            # before any slow import
            sys.stdout.write(f"genie {words[0]}: starting ...\n")
            sys.stdout.flush()
        from django.core.management import execute_from_command_line

        at = 1 if words[0] == "help" and len(words) > 1 else 0
        # `load-task` is easier to type than `load_task`; both work
        words[at] = words[at].replace("-", "_") if words[at][0] != "-" else words[at]
        from django.db import DatabaseError

        try:
            execute_from_command_line([sys.argv[0], *words])
        except DatabaseError as error:
            if not any(sign in str(error) for sign in _NO_TABLES):
                raise
            sys.exit(
                f"genie {words[0].replace('_', '-')}: there is no site here yet, or one of an "
                f"older version ({error}). `genie up` or `genie migrate` makes the tables."
            )


def overview() -> str:
    ours = _ours()
    known = ours | _DJANGO
    lines = ["Human-evaluation leaderboards for text generation.", ""]
    lines += ["usage: genie COMMAND [options]", ""]
    for title, commands in GROUPS.items():
        lines.append(f"{title}:")
        for name, what in commands.items():
            if name in known:
                lines.append(f"  {name:18} {what}")
        lines.append("")
    grouped = {name for commands in GROUPS.values() for name in commands}
    lines.append(f"For studies of the method: {', '.join(sorted(ours - grouped))}.")
    lines.append("Every command of Django works as well.")
    lines += ["", "`genie COMMAND --help` says what a command takes.", ""]
    return "\n".join(lines)


def _ours() -> set[str]:
    top = Path(__file__).resolve().parent.parent
    return {
        path.stem.replace("_", "-")
        for app in _APPS
        for path in (top / app / "management" / "commands").glob("[a-z]*.py")
    }


def _version() -> str:
    try:
        return version("genie-leaderboards")
    except PackageNotFoundError:
        return "not installed: running from the source tree"
