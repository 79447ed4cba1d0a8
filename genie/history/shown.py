import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

from genie.history.models import LogEntry

# The public ones among the rows of entries.
Public = Callable[[Collection[int]], Collection[int]]
_PUBLIC: dict[str, Public] = {}


def register(kind: LogEntry.Kind, public: Public = frozenset) -> None:
    _PUBLIC[kind] = public


def open_entries(entries: Sequence[LogEntry]) -> list[dict[str, Any]]:
    open_now = _open(entries)
    return [_as_read(one, shows=one.pk in open_now) for one in entries]


def _open(entries: Sequence[LogEntry]) -> set[int]:
    found = set()
    for kind, public in _PUBLIC.items():
        rows = [one for one in entries if one.kind == kind and one.about is not None]
        of = set(public({one.about for one in rows if one.about is not None}))
        found |= {one.pk for one in rows if one.about in of}
    return found


def _as_read(entry: LogEntry, *, shows: bool) -> dict[str, Any]:
    shows = shows and bool(entry.salt)
    return {
        "number": entry.number,
        "at": entry.at,
        "kind": entry.kind,
        "body": entry.body.decode(),
        "salt": entry.salt if shows else None,
        "data": entry.data if shows else None,
        "says": json.loads(entry.data) if shows else None,
    }
