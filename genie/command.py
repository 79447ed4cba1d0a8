"""The command `genie`: every command of `manage.py`, and a help for beginners."""

import os
import re
import sys
from pathlib import Path

from genie import VERSION
from genie.lib.env import ConfigurationError
from genie.lib.errors import error_sentence

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
_COLLISION = (
    "genie: Cisco's package `genie` is in this environment, too, and its files replace "
    "some of ours; install genie-leaderboards into an environment without it."
)
_GONE = "The current folder no longer exists. Change to another one."
# Command lines that are not refused, as far as can be known without loading Django.
_LONG = re.compile(
    r"up( --port [1-5]?\d{1,4}| --host [\d.]+)*|demo( --port [1-5]?\d{1,4}| --no-serve)*"
)
_DJANGO = {"createsuperuser", "collectstatic", "check"}


def main(program: str = "genie", help_text: str = "") -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "genie.settings")
    words = sys.argv[1:]
    for mode, stream in (("r", "stdin"), ("w", "stdout"), ("w", "stderr")):
        if getattr(sys, stream) is None:  # it was closed
            nothing = os.open(os.devnull, os.O_RDWR)
            setattr(sys, stream, os.fdopen(nothing, mode))
    try:
        try:
            _answer(program, words, help_text)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except (ConfigurationError, OSError) as error:
        _drop_output()
        # `| head` has read enough
        if not isinstance(error, BrokenPipeError):
            sys.exit(f"{' '.join([program, *words[:1]])}: {_reason(error)}")


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and not error.filename:
        return _GONE
    return error_sentence(error)


def _drop_output() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        # Python would complain when it flushes at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(program: str, words: list[str], help_text: str) -> None:
    # slow to import: Ctrl-C is understood by now
    from importlib.metadata import distributions

    if any(distributions(name="genie")):
        sys.exit(_COLLISION)
    if words in ([], ["help"], ["--help"], ["-h"]):
        sys.stdout.write(help_text or overview())
    elif "--version" in words or words == ["version"]:
        sys.stdout.write(f"{VERSION}\n")
    else:
        if _LONG.fullmatch(" ".join(words)):
            # before any slow import
            sys.stdout.write(f"genie {words[0]}: starting ...\n")
            sys.stdout.flush()
        # Django is loaded only now
        from genie.management.utility import run

        run(program, words)


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
