"""Samples of whole documents: how large they can be, and which documents are drawn."""

from __future__ import annotations

from collections.abc import Sequence


def whole_size(sizes: Sequence[int], n: int) -> int:
    """Return the largest sum of whole documents up to `n`, or the smallest document.

    Examples
    --------
    >>> whole_size([4, 4, 3], 10), whole_size([4, 4, 3], 2)
    (8, 3)
    """
    reached = _sums(sizes, n)[0]
    return reached.bit_length() - 1 or min(sizes, default=0)


def drawn(sizes: Sequence[int], n: int) -> list[int]:
    """Return the places of documents, in their order, that are `n` together.

    Examples
    --------
    >>> drawn([3, 4, 4, 2], 8)
    [1, 2]
    """
    left, places, sums = n, [], _sums(sizes, n)
    for place, size in enumerate(sizes):
        if size <= left and sums[place + 1] >> (left - size) & 1:
            places.append(place)
            left -= size
    return places


def _sums(sizes: Sequence[int], n: int) -> list[int]:
    """Return, for each place, the sums up to `n` of documents from there on, as bits."""
    found = [1]
    for size in reversed(sizes):
        found.append((found[-1] | found[-1] << size) & ((1 << n + 1) - 1))
    return found[::-1]
