"""Samples of whole documents: possible sizes, and the documents drawn."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, groupby


def whole_size(sizes: Sequence[int], n: int) -> int:
    """Return the largest sum of whole documents up to `n`, or the smallest document."""
    return _sums(sizes, n)[0].bit_length() - 1 or min(sizes, default=0)


def whole_first(
    names: Sequence[str], n: int, permuted: Callable[[int], Iterable[int]] = range
) -> tuple[list[int], int]:
    """Return all places, whole documents first, and the size of the sample.

    The sample has at most `n` places. A place without a name is a separate document.
    `permuted` orders the documents.

    Examples
    --------
    >>> whole_first(["a", "b", "b", "a", ""], 3)
    ([0, 3, 4, 1, 2], 3)
    >>> whole_first(["a", "b", "b", "a"], 3)
    ([0, 3, 1, 2], 2)
    """
    documents: dict[str | int, list[int]] = {}
    for place, name in enumerate(names):
        documents.setdefault(name or place, []).append(place)
    parts = list(documents.values())
    parts = [parts[int(at)] for at in permuted(len(parts))]
    sizes = [len(part) for part in parts]
    whole = whole_size(sizes, n)
    first = draw_documents(sizes, whole)
    later = sorted({*range(len(parts))}.difference(first))
    return [place for at in (*first, *later) for place in parts[at]], whole


def whole_wave(names: Sequence[str], size: int, most: int) -> int:
    """Return how many of the next pairs are whole documents, at most `size`.

    It is the first document if that is larger. If pairs of a document are not adjacent,
    as in old samples, it is `size`.
    """
    runs = [len(list(run)) for _, run in groupby(names)]
    if len(runs) > len(set(names)):
        return size
    ends = list(accumulate(runs))
    fits = [end for end in ends if end <= max(size, ends[0]) and end <= most]
    return max(fits, default=0)


def draw_documents(sizes: Sequence[int], n: int) -> list[int]:
    """Return the places of the documents, in order, whose sizes sum to `n`."""
    left, places, sums = n, [], _sums(sizes, n)
    for place, size in enumerate(sizes):
        if size <= left and sums[place + 1] >> (left - size) & 1:
            places.append(place)
            left -= size
    return places


def _sums(sizes: Sequence[int], n: int) -> list[int]:
    """Return, for each place, the possible sums up to `n` from there on, as bits."""
    found = [1]
    for size in reversed(sizes):
        found.append((found[-1] | found[-1] << size) & ((1 << n + 1) - 1))
    return found[::-1]
