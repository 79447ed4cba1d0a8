"""A Pearmut campaign as rows: one per segment, with a column for each system."""

from collections.abc import Iterator
from typing import Any

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
