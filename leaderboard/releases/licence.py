"""Whether a task's licence lets its texts be handed on."""

from __future__ import annotations

# What a licence's name begins with when it lets everybody copy, in small letters.
_OPEN = (
    "apache-2",
    "cc by",
    "cc-by",
    "cc0",
    "mit",
    "odc",
    "pddl",
    "public domain",
    "bsd",
)


def may_be_copied(licence: str) -> bool:
    """Tell whether texts under this licence may be handed on; in doubt, they may not."""
    return licence.strip().casefold().startswith(_OPEN)
