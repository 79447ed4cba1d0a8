"""Options of commands that read files of ratings."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.mapping import from_toml
from leaderboard.tasks.config import RATERS


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--choose",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help="column of a role, such as system=model or rating=fluency,adequacy, or another "
        "answer; may be repeated",
    )
    parser.add_argument(
        "--mapping",
        type=Path,
        metavar="FILE",
        help="roles and answers (TOML), for which --choose has exceptions",
    )


def add_raters(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--raters",
        choices=RATERS,
        default="",
        help="whether results are about these raters, or raters like these (assumed by "
        "default)",
    )


def choices_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of a command: those of the mapping file, if not chosen again.

    Columns of a role that is chosen several times are joined. Raises "unknown-choice",
    and errors of the mapping file.
    """
    chosen: dict[str, str] = {}
    for one in options["choose"]:
        role, equals, column = one.partition("=")
        if not equals:
            raise GenieError(
                f"--choose takes ROLE=COLUMN, not {one!r}.", code="unknown-choice"
            )
        chosen[role] = f"{chosen[role]},{column}" if role in chosen else column
    return {**(from_toml(options["mapping"]) if options["mapping"] else {}), **chosen}
