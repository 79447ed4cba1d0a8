"""Django's commands by the names that we show, with refusals of one sentence."""

import sys
from difflib import get_close_matches

from django.core.management import ManagementUtility, get_commands
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from genie.lib.errors import GenieError, error_sentence

# SQLite's and PostgreSQL's errors for tables or columns without a migration.
_NO_TABLES = (
    "no such table", "no such column", "does not exist", "unable to open database file"
)  # fmt: skip


class Utility(ManagementUtility):
    def fetch_command(self, subcommand: str) -> BaseCommand:
        # `load-task` is easier to type than `load_task`; both work
        command, known = subcommand.replace("-", "_"), get_commands()
        if command in known:
            return super().fetch_command(command)
        close = "".join(get_close_matches(command.lower(), known, 1)).replace("_", "-")
        hint = f"Did you mean {close}? " if close else ""
        raise CommandError(
            f"There is no such command. {hint}`{self.prog_name}` lists all commands."
        )


def run(program: str, words: list[str]) -> None:
    if words[0] == "help" and len(words) > 1:
        words = [words[1], "--help"]
    name = words[0].replace("_", "-")
    try:
        # Otherwise Django prints "CommandError:" before what a command refuses.
        Utility([program, name, "--traceback", *words[1:]]).execute()
    except (CommandError, GenieError) as error:
        sys.exit(f"{program} {name}: {error}")
    except DatabaseError as error:
        if "--traceback" in words:
            raise
        reason = error_sentence(error)
        if name == "migrate" or not any(sign in reason for sign in _NO_TABLES):
            sys.exit(f"{program} {name}: The database cannot be used ({reason}).")
        sys.exit(
            f"{program} {name}: there is no site here yet, or its database needs an upgrade "
            f"({reason}). Run `genie up` or `genie migrate` to create or upgrade it."
        )
