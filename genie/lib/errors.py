"""The base class of all errors that Genie raises on purpose."""

from collections.abc import Mapping
from typing import Any


class GenieError(Exception):
    """A refusal or failure that a person can read and act on.

    Parameters
    ----------
    message : str
        One clear sentence: the problem, its place (line, id, field), what to do.
    code : str, optional
        Stable, hyphenated name of the kind of error, for programs.
    permanent : bool, optional
        True if trying again cannot help; jobs do not retry those.
    details : mapping, optional
        The figures behind the sentence, JSON-serialisable.
    """

    code = "genie-error"
    permanent = True

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        permanent: bool | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code if code is not None else type(self).code
        self.permanent = permanent if permanent is not None else type(self).permanent
        self.details: dict[str, Any] = dict(details or {})


def error_sentence(error: Exception) -> str:
    """Return an error's message, without ``[Errno 13]`` for system errors."""
    if not isinstance(error, OSError) or not error.strerror:
        return " ".join(str(error).split())  # a database's has several lines
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror}."
