"""Check a release's part of the public log: its tree, and scores against it."""

import json
from collections.abc import Iterator
from pathlib import Path

from genie.history import merkle
from genie.history.canonical import commitment
from genie.lib.errors import GenieError
from leaderboard.evaluation.result_columns import columns_of
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.published_numbers import Number


def log_numbers(folder: Path, tables: Path) -> Iterator[Number | str]:
    lines = read(folder)
    head = next(lines, None)
    if head is None:
        yield "This release is older than the public log."
        return
    said = {}
    for entry in lines:
        name = f"whether entry {entry['number']} is in the public log"
        yield Number(bundle.LOG, name, True, _holds(entry, head))
        data = json.loads(entry["data"])
        if "criterion" in data and "submission" in data:
            said[data["submission"], data["criterion"]] = data
    names = {column.name for column in columns_of("log")} - {"criterion"}
    n_older = 0
    for score in bundle.iter_table(tables, "scores"):
        about = score["submission"], score["criterion"]
        logged = said.get(about)
        n_older += logged is None
        # an older release or entry lacks columns that were added later
        for column in names & score.keys() & (logged or {}).keys():
            subject = "submission {} on {}, {}".format(*about, column)
            yield Number(bundle.LOG, subject, logged[column], score[column])  # type: ignore[index]
    if n_older:
        yield f"The public log does not contain {n_older:,} scores, which are older."


def read(folder: Path) -> Iterator[Record]:
    path = folder / bundle.LOG
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def check_since(folder: Path, earlier: Path) -> str:
    """Check that the log of a release has only grown since an earlier release.

    Raises GenieError ``log-rewritten`` if not, ``no-log`` if that cannot be checked.
    """
    try:
        heads = [next(read(one), None) for one in (folder, earlier)]
        for one, head in zip((folder, earlier), heads, strict=True):
            if head is None:
                raise GenieError(f"{one} has no public log.", code="no-log")
        return _since(heads[0] or {}, heads[1] or {})
    except (LookupError, TypeError, ValueError) as error:
        raise GenieError(
            "The public log of one of the releases cannot be read.", code="no-log"
        ) from error


def _since(now: Record, then: Record) -> str:
    if then["size"] > now["size"]:
        raise GenieError(
            "The release after --since must be the earlier one. Its log has "
            f"{then['size']:,} entries, this one's {now['size']:,}. Swap the two.",
            code="no-log",
        )
    paths = {one["size"]: one["consistency"] for one in now["earlier"]}
    paths[now["size"]] = []
    size = then["size"]
    if size not in paths:
        raise GenieError(
            f"The later release has no hashes to check a log of {size:,} entries. Get "
            f"them from the site at /api/v1/history/?since={size}.",
            code="no-log",
        )
    path = [bytes.fromhex(one) for one in paths[size]]
    roots = bytes.fromhex(then["root"]), bytes.fromhex(now["root"])
    if not merkle.continues(size, roots[0], now["size"], roots[1], path):
        raise GenieError(
            f"The site has rewritten its public log: the {size:,} entries of the "
            "earlier release do not match the first entries of this one.",
            code="log-rewritten",
        )
    return f"The public log has only grown, from {size:,} to {now['size']:,} entries."


def _holds(entry: Record, head: Record) -> bool:
    salt, body = bytes.fromhex(entry["salt"]), entry["body"]
    made = commitment(salt, entry["data"].encode())
    return json.loads(body)["commitment"] == made and merkle.includes(
        merkle.leaf_hash(body.encode()),
        entry["number"],
        head["size"],
        [bytes.fromhex(one) for one in entry["inclusion"]],
        bytes.fromhex(head["root"]),
    )
