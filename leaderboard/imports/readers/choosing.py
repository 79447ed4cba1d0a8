"""What a person chose, checked against what there is to choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genie.lib.errors import GenieError


def chosen(
    choices: Mapping[str, Any], name: str, options: Sequence[str], usual: str = ""
) -> str:
    """Give what was chosen, else what is usual, else the only option.

    Raises
    ------
    GenieError
        "choice-needed" where one must be made, "unknown-choice" where it is none of them.
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
