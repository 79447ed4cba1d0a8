import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone

from genie.history import merkle
from genie.history.canonical import canonical, commitment
from genie.history.models import LogEntry, LogHead

Kind = LogEntry.Kind
T = TypeVar("T")
_WIDTH = 32
# Entries numbered in one transaction, and read in one query.
_AT_ONCE = 2_000
_IN_QUERY = 500
# The row's key of an entry, and its data.
Said = tuple[int | None, Mapping[str, Any]]


def append(
    kind: Kind,
    data: Mapping[str, Any],
    *,
    about: int | None = None,
    repeat: bool = True,
) -> None:
    """Write an entry; callers do so in the transaction of the event.

    Without `repeat`, it is skipped if the last one about the same row is equal.
    """
    if not repeat:
        last = LogEntry.objects.filter(kind=kind, about=about).order_by("pk").last()
        if last is not None and last.data == canonical(dict(data)).decode():
            return
    append_all(kind, [(about, data)])


def append_all(kind: Kind, said: Iterable[Said]) -> None:
    """Write entries of one kind, without locks: a job numbers them."""
    now, entries = timezone.now(), []
    for about, data in said:
        text, salt = canonical(dict(data)), secrets.token_bytes(_WIDTH)
        entry = LogEntry(kind=kind, at=now, about=about, data=text.decode())
        entry.salt, entry.commitment = salt.hex(), commitment(salt, text)
        entries.append(entry)
    if entries:
        LogEntry.objects.bulk_create(entries, batch_size=_IN_QUERY)


def forget(workers: Collection[int]) -> int:
    """Delete the data of entries about these people; their commitments stay."""
    rows = LogEntry.objects.filter(kind=Kind.BAN, about__in=workers)
    return rows.update(data="", salt="", about=None)


def number() -> int:
    """Assign numbers to the new entries, and write a head; return how many."""
    n_all = 0
    while n := _number_some():
        n_all += n
    return n_all


@transaction.atomic
def _number_some() -> int:
    # The empty head is the lock: concurrent calls wait here, and read the newest head
    # after that.
    empty = {"root": merkle.root(_unknown, 0).hex(), "at": timezone.now()}
    LogHead.objects.get_or_create(size=0, defaults=empty)
    LogHead.objects.select_for_update().get(size=0)
    size = head().size
    entries = list(LogEntry.objects.filter(number=None).order_by("pk")[:_AT_ONCE])
    if not entries:
        return 0
    known: dict[tuple[int, int], bytes] = {}

    def node(level: int, place: int) -> bytes:
        return known[level, place]

    # the head itself has all perfect subtrees at its right end
    _with_nodes(lambda stored: merkle.root(_recording_node(stored, known), size))
    for entry in entries:
        hashes = merkle.completed_hashes(node, size, merkle.leaf_hash(entry.body))
        known |= {(k, size >> k): one for k, one in enumerate(hashes)}
        entry.number, entry.hashes = size, b"".join(hashes)
        size += 1
    LogEntry.objects.bulk_update(entries, ["number", "hashes"], batch_size=_IN_QUERY)
    LogHead.objects.create(
        size=size, root=merkle.root(node, size).hex(), at=timezone.now()
    )
    return len(entries)


def head(size: int | None = None) -> LogHead:
    if size is not None:
        return LogHead.objects.get(size=size)
    newest = LogHead.objects.order_by("-size").first()
    if newest is None:
        return LogHead(size=0, root=merkle.root(_unknown, 0).hex(), at=timezone.now())
    return newest


def inclusion(numbers: Collection[int], size: int) -> list[list[str]]:
    return _with_nodes(
        lambda node: [_hex(merkle.inclusion(node, one, size)) for one in numbers]
    )


def consistency(first: int, size: int) -> list[str]:
    return _with_nodes(lambda node: _hex(merkle.consistency(node, first, size)))


def first_difference() -> str:
    """Compute the whole tree again; return its first difference, or ""."""
    heads = dict(LogHead.objects.values_list("size", "root"))
    tree: dict[tuple[int, int], bytes] = {}

    def node(level: int, place: int) -> bytes:
        return tree[level, place]

    size = 0
    for entry in (
        LogEntry.objects.exclude(number=None)
        .order_by("number")
        .iterator(chunk_size=_AT_ONCE)
    ):
        if entry.number != size:
            return f"entry {size:,} is missing"
        hashes = merkle.completed_hashes(node, size, merkle.leaf_hash(entry.body))
        if bytes(entry.hashes) != b"".join(hashes) or not entry.opens:
            return f"entry {size:,} was changed"
        # Hashes inside a larger perfect subtree are no longer needed.
        for level in range(len(hashes) - 1):
            del tree[level, (size >> level) - 1]
        level = len(hashes) - 1
        tree[level, size >> level] = hashes[-1]
        size += 1
        stated = heads.pop(size, None)
        if stated is not None and stated != merkle.root(node, size).hex():
            return f"the head does not match its {size:,} entries"
    return f"entry {size:,} is missing" if any(n > size for n in heads) else ""


def _unknown(_level: int, _place: int) -> bytes:
    return bytes(_WIDTH)


def _recording_node(
    node: merkle.Node, known: dict[tuple[int, int], bytes]
) -> merkle.Node:
    def read_and_record(level: int, place: int) -> bytes:
        known[level, place] = node(level, place)
        return known[level, place]

    return read_and_record


def _with_nodes(work: Callable[[merkle.Node], T]) -> T:
    """Run a function on the tree with only the stored hashes that it needs.

    It runs twice: which hashes it asks for does not depend on their values.
    """
    needed: dict[tuple[int, int], bytes] = {}
    work(_recording_node(_unknown, needed))
    # the last entry of a perfect subtree has its hash
    last = {key: ((key[1] + 1) << key[0]) - 1 for key in needed}
    numbers = iter(sorted({*last.values()}))
    hashes: dict[int, bytes] = {}
    while some := list(islice(numbers, _IN_QUERY)):
        rows = LogEntry.objects.filter(number__in=some)
        hashes |= {
            int(n or 0): bytes(h) for n, h in rows.values_list("number", "hashes")
        }
    return work(lambda k, place: hashes[last[k, place]][_WIDTH * k : _WIDTH * (k + 1)])


def _hex(path: Iterable[bytes]) -> list[str]:
    return [one.hex() for one in path]
