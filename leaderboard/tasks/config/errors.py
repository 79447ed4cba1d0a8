"""The table [human.errors]: the errors that people mark."""

from collections.abc import Mapping
from typing import Any

from crowd.hit_templates.errors import read_errors
from genie.lib.errors import GenieError
from leaderboard.tasks.config.kinds import Kind, Place


def _errors(value: object, place: Place) -> Mapping[str, Any] | None:
    if not isinstance(value, Mapping):
        place.wrong(f"must be a table, not {value!r}.")
        return None
    try:
        read_errors(value)
    except GenieError as error:
        place.wrong(error.message.partition(": ")[2])
        return None
    return dict(value)


ERRORS: Kind[Mapping[str, Any]] = Kind("a table of errors to mark", _errors, {})
