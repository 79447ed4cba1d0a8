"""Check a person's choices against the options."""

from collections.abc import Mapping, Sequence
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.layout import Choice


def chosen(
    choices: Mapping[str, Any], name: str, options: Sequence[str], usual: str = ""
) -> str:
    """Return the chosen option, else the default, else the only option.

    Raises "choice-needed" if one must be made, "unknown-choice" if it is no option.
    """
    picked = str(choices.get(name) or usual)
    if not picked and len(options) == 1:
        picked = options[0]
    if not picked:
        raise GenieError(
            f"Choose {name}: one of {', '.join(options)}.", code="choice-needed"
        )
    if picked not in options:
        raise GenieError(
            f"There is no {name} {picked!r}; there are {', '.join(options) or 'none'}.",
            code="unknown-choice",
        )
    return picked


def one_of(name: str, question: str, options: Sequence[str]) -> Choice:
    """Create a question with options, which must be answered if there are several.

    Examples
    --------
    >>> one_of("pair", "Which pair?", ["en-cs"]).found
    'en-cs'
    """
    several = len(options) > 1
    found = "" if several else "".join(options)
    return Choice(name, question, tuple(options), found=found, needed=several)
