"""Texts that cannot be meant so: empty among filled ones, or cut off among whole ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

EMPTY, CUT = "empty", "seems cut off"
# of a column so many end as sentences do before one that does not is named
_WHOLE = 0.8
_FEWEST = 5
_GOES_ON = ",-–—、،"


def faults(texts: Sequence[str]) -> dict[int, str]:
    """Find the texts of a column that stand out by how they end, or that are empty.

    Parameters
    ----------
    texts : sequence of str
        A field of all inputs, or a system's outputs.

    Returns
    -------
    dict
        Number of a text to `EMPTY` or `CUT`. Nothing is called empty where half of them
        are, and nothing cut off unless four of five of at least five end in a sign.

    Examples
    --------
    >>> faults(["It rains.", "It", "", "Yes!", "No.", "So.", "«Ja»"])
    {1: 'seems cut off', 2: 'empty'}
    """
    stripped = [text.strip() for text in texts]
    filled = [text for text in stripped if text]
    n_ended = sum(map(_ends, filled))
    whole = len(filled) >= _FEWEST and _WHOLE * len(filled) <= n_ended
    found = {}
    for number, text in enumerate(stripped):
        if not text and 2 * len(filled) > len(texts):
            found[number] = EMPTY
        elif text and whole and not _ends(text):
            found[number] = CUT
    return found


def _ends(text: str) -> bool:
    return unicodedata.category(text[-1])[0] in "PS" and text[-1] not in _GOES_ON
