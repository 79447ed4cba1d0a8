"""The only entry to official releases."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.tasks.readers.base import Release, all_readers


def read_release(
    kind: str, path: Path | str, options: Mapping[str, Any] | None = None
) -> Release:
    """Read a benchmark's official release.

    Parameters
    ----------
    kind : str
        Slug of the layout, as in the task's ``[release] reader``.

    Raises
    ------
    GenieError
        ``unknown-reader``, ``unknown-option``, ``release-missing`` (a file is not
        there), ``release-broken`` (with file, line and field), ``release-empty``.

    Examples
    --------
    >>> read_release("no-such-layout", ".")
    Traceback (most recent call last):
    ...
    genie.lib.errors.GenieError: There is no reader 'no-such-layout', only anlg-jsonl, ...
    """
    readers = all_readers()
    if kind not in readers:
        raise GenieError(
            f"There is no reader {kind!r}, only {', '.join(readers)}.",
            code="unknown-reader",
        )
    chosen_options = dict(options or {})
    unknown = sorted(chosen_options.keys() - readers[kind].options.keys())
    if unknown:
        known = ", ".join(readers[kind].options)
        raise GenieError(
            f"The reader {kind} has no option {unknown[0]!r}, only {known}.",
            code="unknown-option",
        )
    return readers[kind]().read(Path(path), chosen_options)
