"""JSON and JSONL: objects in a list or per line, texts by id, Pearmut."""

import json
from collections.abc import Iterator
from typing import Any

from leaderboard.tasks.intake.problem import FileProblem, Unreadable, shown

# A Pearmut campaign as rows: one per segment, with a column for each system.
# users, documents, segments
_LEVELS = 3
ID, SOURCE, REFERENCE = "id", "source", "reference"


def is_campaign(value: dict[str, Any]) -> bool:
    """Check whether a JSON object is a campaign of Pearmut.

    Examples
    --------
    >>> is_campaign({"campaign_id": "a", "info": {}, "data": []}), is_campaign({"q1": "x"})
    (True, False)
    """
    return {"campaign_id", "info", "data"} <= set(value) and isinstance(
        value["data"], list
    )


def rows_of_campaign(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the segments of a campaign with their place, without tutorials and checks.

    A document of several users is listed once, with all its systems. Segments have ids
    ``DOCUMENT.SEGMENT``, so that pages can show whole documents.

    Examples
    --------
    >>> one = {"src": "Hej.", "tgt": {"red": "Hi.", "blue": "Hello."}}
    >>> campaign = {"campaign_id": "a", "info": {}, "data": [[one]]}
    >>> list(rows_of_campaign(campaign))[0][1]
    {'id': 'doc1.1', 'source': 'Hej.', 'red': 'Hi.', 'blue': 'Hello.'}
    """
    documents: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for items in _documents(value["data"]):
        key = tuple((str(one.get("item_id")), str(one.get("src"))) for one in items)
        rows = documents.setdefault(key, [{} for _ in items])
        for row, one in zip(rows, items, strict=True):
            row |= _row(one)
    for n, rows in enumerate(documents.values(), start=1):
        for m, row in enumerate(rows, start=1):
            yield f"document {n:,}, segment {m:,}", {ID: f"doc{n}.{m}", **row}


def _documents(data: Any, levels: int = _LEVELS) -> Iterator[list[dict[str, Any]]]:
    """Yield the lists of segments; they may be nested in a list per user."""
    if not isinstance(data, list) or not levels:
        return
    items = [one for one in data if isinstance(one, dict) and "tgt" in one]
    if items:
        yield items
        return
    for part in data:
        yield from _documents(part, levels - 1)


def _row(item: dict[str, Any]) -> dict[str, Any]:
    row = {}
    for name, key in ((SOURCE, "src"), (REFERENCE, "ref")):
        if item.get(key):
            row[name] = item[key]
    texts = item["tgt"]
    return row | (texts if isinstance(texts, dict) else {"output": texts})


Rows = Iterator[tuple[str, dict[str, Any]]]
# The columns of an object from id to text.
ROW_ID, OUTPUT = "id", "output"
_BY_LINE = (".jsonl", ".ndjson")


def rows_of(text: str, file: str) -> Rows:
    r"""Yield objects with their place.

    Raises
    ------
    Unreadable
        ``bad-json`` or ``not-rows``.

    Examples
    --------
    >>> list(rows_of('{"q": "Why?"}\n{"q": "Who?"}\n', "a.jsonl"))
    [('line 1', {'q': 'Why?'}), ('line 2', {'q': 'Who?'})]
    >>> list(rows_of('{"q1": "Iron.", "q2": "Salt."}', "a.json"))[0]
    ('entry 1', {'id': 'q1', 'output': 'Iron.'})
    """
    lines = [line for line in text.split("\n") if line.strip()]
    # in a file called .jsonl, one valid line is enough: the next may be the broken one
    n_whole = 1 if file.lower().endswith(_BY_LINE) else 2
    if len(lines) > 1 and all(_looks_whole(line) for line in lines[:n_whole]):
        yield from _by_line(text, file)
        return
    value = _parsed(text, file, None)
    if isinstance(value, dict) and is_campaign(value):
        yield from rows_of_campaign(value)
        return
    if isinstance(value, dict):
        yield from _of_object(value, file, one_line=len(lines) == 1)
        return
    if not isinstance(value, list):
        raise _no("not-rows", f"the file holds {_kind(value)}, not rows", file)
    for number, entry in enumerate(value, start=1):
        yield _json_row(entry, file, f"entry {number:,}")


def _looks_whole(line: str) -> bool:
    line = line.strip()
    return line.startswith("{") and line.endswith("}")


def _by_line(text: str, file: str) -> Rows:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _json_row(_parsed(line, file, number), file, f"line {number:,}")


def _of_object(value: dict[str, Any], file: str, *, one_line: bool) -> Rows:
    tables = [
        inner
        for inner in value.values()
        if isinstance(inner, list) and inner and all(isinstance(e, dict) for e in inner)
    ]
    # {"version": ..., "data": [...]}, unless the list is a conversation
    if len(tables) == 1 and not all("role" in entry for entry in tables[0]):
        for number, entry in enumerate(tables[0], start=1):
            yield _json_row(entry, file, f"entry {number:,}")
    elif value and all(isinstance(inner, dict) for inner in value.values()):
        for number, (key, inner) in enumerate(value.items(), start=1):
            yield f"entry {number:,}", {ROW_ID: key, **inner}
    elif one_line and file.lower().endswith(_BY_LINE):
        yield "line 1", value
    else:
        for number, (key, inner) in enumerate(value.items(), start=1):
            yield f"entry {number:,}", {ROW_ID: key, OUTPUT: inner}


def _json_row(value: Any, file: str, place: str) -> tuple[str, dict[str, Any]]:
    if isinstance(value, dict):
        return place, value
    raise _no(
        "not-rows",
        f"{_kind(value)} stands here; every row must be an object with named values",
        file,
        place,
    )


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {str: "a text", bool: "true or false", list: "a list"}.get(
        type(value), "a number"
    )


def _parsed(text: str, file: str, line: int | None) -> Any:
    try:
        # Numbers are kept as written: here they are ids and texts.
        return json.loads(
            text, parse_int=_Number, parse_float=_Number, object_pairs_hook=_Once.pairs
        )
    except _Once as error:
        reason = f"the name “{shown(str(error))}” stands twice in one object"
        raise _no("duplicate-column", reason, file, f"line {line or 1:,}") from None
    except json.JSONDecodeError as error:
        at, column, reason = line or error.lineno, error.colno, error.msg
    except RecursionError:
        at, column, reason = line or 1, 1, "It is nested too deeply"
    raise _no(
        "bad-json",
        f"this is not valid JSON at character {column:,}: "
        f"{reason[0].lower()}{reason[1:]}",
        file,
        f"line {at:,}",
    )


class _Number(str):
    __slots__ = ()


class _Once(Exception):
    """Refuses an object with the same key twice, of which only one would be kept."""

    @classmethod
    def pairs(cls, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            raise cls(next(name for name in names if names.count(name) > 1)[:60])
        return found


def _no(code: str, message: str, file: str, place: str = "") -> Unreadable:
    return Unreadable(FileProblem(code, message, file, place))
