"""Check a site's public log: proofs of RFC 9162, with nothing but the standard library."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from genie_client.problem import Problem

Json = dict[str, Any]


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two neighbors (RFC 9162, section 2.1.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def check_continues(kept: Json, now: Json) -> None:
    """Check that the log with this head begins with the one that was kept (2.1.4.2).

    Raises
    ------
    Problem
        "log-rewritten" where it does not.
    """
    first, size = int(kept["size"]), int(now["size"])
    before, after = _bytes(kept["root"]), _bytes(now["root"])
    path = [_bytes(one) for one in now["consistency"] or []]
    if not _continues(first, before, size, after, path):
        raise Problem(
            f"The site has rewritten its public log: its {size:,} entries do not "
            f"begin with the {first:,} entries of the head that you stored.",
            code="log-rewritten",
            body={"kept": kept, "now": now},
        )


def check_entry(entry: Json) -> None:
    """Check that an entry is in the log of its head, and says what was committed to.

    Raises
    ------
    Problem
        "entry-not-in-log" or "entry-changed".
    """
    head, body = entry["head"], str(entry["body"]).encode()
    leaf = hashlib.sha256(b"\x00" + body).digest()
    path = [_bytes(one) for one in entry["inclusion"]]
    root = _bytes(head["root"])
    if not _includes(leaf, int(entry["number"]), int(head["size"]), path, root):
        raise Problem(
            f"Entry {entry['number']} is not in the log that the site's head "
            "describes.",
            code="entry-not-in-log",
            body={"entry": entry},
        )
    if entry["data"] is None:
        return
    made = hashlib.sha256(_bytes(entry["salt"]) + str(entry["data"]).encode())
    if json.loads(body).get("commitment") != made.hexdigest():
        raise Problem(
            f"Entry {entry['number']} differs from what was logged.",
            code="entry-changed",
            body={"entry": entry},
        )


def as_hashed(entry: Json) -> Json:
    """Return an entry with the time and kind that were hashed."""
    try:
        body = json.loads(entry["body"])
        return {**entry, "at": str(body["at"]), "kind": str(body["kind"])}
    except (LookupError, TypeError, ValueError) as error:
        raise Problem(
            f"Entry {entry['number']} is not a Genie log entry.", code="not-genie"
        ) from error


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except (TypeError, ValueError) as error:
        raise Problem(f"{text!r} is not a hash.", code="not-genie") from error


def _includes(
    leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes
) -> bool:
    """Check an inclusion proof (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    place, last, found = index, size - 1, leaf
    for one in path:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(one, found)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, one)
        place, last = place >> 1, last >> 1
    return last == 0 and found == root


def _continues(
    first: int, before: bytes, size: int, after: bytes, path: Sequence[bytes]
) -> bool:
    """Check a consistency proof (RFC 9162, section 2.1.4.2)."""
    if first == size:
        return not path and before == after
    if first == 0:
        return not path and before == hashlib.sha256().digest()
    if not (0 < first < size and path):
        return False
    # an earlier tree that is a perfect one is its own beginning
    steps = [before, *path] if first & (first - 1) == 0 else list(path)
    place, last = first - 1, size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = steps[0]
    for one in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_hash(one, old), node_hash(one, new)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, one)
        place, last = place >> 1, last >> 1
    return last == 0 and old == before and new == after
