"""Merkle trees as in RFC 9162, section 2.1: heads, proofs, and how readers check them.

A tree is represented by the hashes of its perfect subtrees: `node(level, place)` is the
head of the leaves from ``place << level`` up to ``(place + 1) << level``. These hashes
do not change when entries are added, so each is stored once, and heads and proofs take
O(log n) of them.
"""

import hashlib
from collections.abc import Callable, Sequence

Node = Callable[[int, int], bytes]


def leaf_hash(entry: bytes) -> bytes:
    """Hash an entry: SHA-256(0x00 || entry) (RFC 9162, 2.1.1)."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two neighbours: SHA-256(0x01 || left || right) (RFC 9162, 2.1.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def completed_hashes(node: Node, index: int, leaf: bytes) -> list[bytes]:
    """Return the hashes of all perfect subtrees that one more leaf completes.

    `node` has the hashes of the tree of the first `index` leaves. The result goes from
    level 0, the leaf itself, upwards: ``node(k, index >> k)``.
    """
    hashes = [leaf]
    while index & 1:
        hashes.append(node_hash(node(len(hashes) - 1, index - 1), hashes[-1]))
        index >>= 1
    return hashes


def root(node: Node, size: int) -> bytes:
    """Return the head of a tree of so many leaves, MTH (RFC 9162, 2.1.1)."""
    return _head(node, 0, size) if size else hashlib.sha256().digest()


def _split(size: int) -> int:
    return 1 << ((size - 1).bit_length() - 1)


def _head(node: Node, start: int, size: int) -> bytes:
    """Return the head of leaves whose start is aligned to a subtree of their height."""
    if size & (size - 1) == 0:
        level = size.bit_length() - 1
        return node(level, start >> level)
    half = _split(size)
    return node_hash(_head(node, start, half), _head(node, start + half, size - half))


def inclusion(node: Node, index: int, size: int) -> list[bytes]:
    """Return a proof that a leaf is in a tree: PATH(index, D[size]) (2.1.3.1).

    If the tree has no such leaf, this raises ValueError.
    """
    if not 0 <= index < size:
        raise ValueError(f"A tree of {size} has no leaf {index}.")
    path, start = [], 0
    while size > 1:
        half = _split(size)
        if index < start + half:
            path.append(_head(node, start + half, size - half))
            size = half
        else:
            path.append(_head(node, start, half))
            start, size = start + half, size - half
    return path[::-1]


def consistency(node: Node, first: int, size: int) -> list[bytes]:
    """Return a proof that a tree extends an earlier one: PROOF(first, D[size]).

    Between equal trees, and from the empty one, the proof is empty. If the earlier
    tree is the larger one, this raises ValueError.
    """
    if not 0 <= first <= size:
        raise ValueError(f"A tree of {size} does not begin with one of {first}.")
    path: list[bytes] = []
    start, known = 0, True
    while 0 < first < size:
        half = _split(size)
        if first <= half:
            path.append(_head(node, start + half, size - half))
            size = half
        else:
            path.append(_head(node, start, half))
            start, first, size, known = start + half, first - half, size - half, False
    if not known:
        path.append(_head(node, start, size))
    return path[::-1]


def includes(
    leaf: bytes, index: int, size: int, path: Sequence[bytes], head: bytes
) -> bool:
    """Check an inclusion proof (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    place, last, found = index, size - 1, leaf
    for one in path:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(one, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, one)
        place, last = place >> 1, last >> 1
    return last == 0 and found == head


def continues(
    first: int, first_head: bytes, size: int, head: bytes, path: Sequence[bytes]
) -> bool:
    """Check a consistency proof (RFC 9162, 2.1.4.2)."""
    if first == size:
        return not path and first_head == head
    if first == 0:
        return not path and first_head == hashlib.sha256().digest()
    if not (0 < first < size and path):
        return False
    # a perfect earlier tree is its own beginning
    steps = [first_head, *path] if first & (first - 1) == 0 else list(path)
    place, last = first - 1, size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    before = now = steps[0]
    for one in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            before, now = node_hash(one, before), node_hash(one, now)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            now = node_hash(now, one)
        place, last = place >> 1, last >> 1
    return last == 0 and before == first_head and now == head
