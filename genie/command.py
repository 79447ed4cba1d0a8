"""The command `genie`: every command of `manage.py`, and a help for beginners."""

import os
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

from genie.lib.env import ConfigurationError

_APPS = ("genie", "leaderboard", "quality", "crowd")
# The most needed commands in order. Other commands are listed below these.
GROUPS: dict[str, dict[str, str]] = {
    "Start": {
        "up": "create a site in this folder, or start the existing one",
        "demo": "try Genie with four small tasks and simulated annotators",
    },
    "Your own evaluation": {
        "new": "create a task from files of outputs, and start it",
        "load-task": "load or reload a task",
        "export-task": "write a task to a folder or a zip file",
        "import-task": "read a task from a folder or a zip file",
        "import-judgments": "import ratings you already have and show them on a board",
        "submit": "submit a system's predictions",
        "preview-template": "preview the page that workers will see",
        "show-tests": "preview a task's hidden test questions",
    },
    "Results": {
        "stats": "statistics of any table of ratings or comparisons, without a site",
        "judge": "show the price of a judge (a program), then run it on texts or a task",
        "release": "write a task's data to an archive that can be checked independently",
        "rebuild": "recompute every number in such an archive",
    },
    "Run a site": {
        "work": "run the queue, and restart it when it stops",
        "migrate": "bring the database up to date after an upgrade",
        "createsuperuser": "create a staff account",
        "token": "create an API token for an account",
        "collectstatic": "collect the static files for production",
        "backup": "back up the whole site to one file",
        "restore": "restore a site from such a file",
        "rotate-key": "replace a key of the site by a new one",
        "doctor": "check the site, with one line for each part",
        "check": "check for problems (with --deploy, also the requirements of production)",
    },
}
# SQLite's and PostgreSQL's errors for tables or columns without a migration.
_NO_TABLES = (
    "no such table", "no such column", "does not exist", "unable to open database file"
)  # fmt: skip
_CREATE = {"up", "demo", "migrate", "restore"}
_COLLISION = (
    "genie: Cisco's package `genie` is in this environment, too, and its files replace "
    "some of ours; install genie-leaderboards into an environment without it."
)
_LONG = {"up", "demo"}
_DJANGO = {"migrate", "createsuperuser", "collectstatic", "check"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "genie.settings")
    words = sys.argv[1:]
    if any(distributions(name="genie")):
        sys.exit(_COLLISION)
    if not words or words in (["help"], ["--help"], ["-h"]):
        sys.stdout.write(overview())
    elif words == ["--version"]:
        sys.stdout.write(f"{_version()}\n")
    else:
        if words[0] in _LONG and "--help" not in words:
            # before any slow import
            sys.stdout.write(f"genie {words[0]}: starting ...\n")
            sys.stdout.flush()
        try:
            _run(words)
        except ConfigurationError as error:
            sys.exit(f"genie {words[0]}: {error}")


def _run(words: list[str]) -> None:
    from django.conf import settings
    from django.core.management import CommandError, execute_from_command_line
    from django.db import DatabaseError

    if words[0] == "help" and len(words) > 1:
        words = [words[1], "--help"]
    # `load-task` is easier to type than `load_task`; both work
    name, command = words[0].replace("_", "-"), words[0].replace("-", "_")
    if command in _CREATE and "--help" not in words:
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
    try:
        # Otherwise Django prints "CommandError:" before what a command refuses.
        execute_from_command_line([sys.argv[0], command, "--traceback", *words[1:]])
    except CommandError as error:
        sys.exit(f"genie {name}: {error}")
    except DatabaseError as error:
        if not any(sign in str(error) for sign in _NO_TABLES):
            raise
        sys.exit(
            f"genie {name}: there is no site here yet, or its version is older "
            f"({error}). Run `genie up` or `genie migrate` to create the tables."
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
    lines.append("All Django commands work, too.")
    lines += ["", "`genie COMMAND --help` shows the options of a command.", ""]
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
