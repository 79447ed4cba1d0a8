"""A phrase of a text replaced by one from another text, as WMT's attention checks have it."""

from __future__ import annotations

from collections.abc import Sequence

from genie.lib.seeds import generator

# Up to so many words: so many are replaced; of longer texts every fourth.
_STEPS = ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5))


def damaged(
    text: str, others: Sequence[str], *, seed: int
) -> tuple[str, str, str] | None:
    """Replace a phrase in the middle of a text by one of the same length from another.

    Texts without blanks, as in Chinese, are cut into characters.

    Parameters
    ----------
    text : str
    others : sequence of str
        Texts for other inputs; the first that has something else is used.
    seed : int

    Returns
    -------
    tuple of str or None
        The damaged text, what was replaced, what stands there now; None where nothing
        of the kind can be made.

    Examples
    --------
    >>> damaged("one two three", ["four five six"], seed=1)[0]
    'five six three'
    >>> damaged("one two", ["one two"], seed=1) is None
    True

    References
    ----------
    Graham, Baldwin, Moffat and Zobel (2016), Can Machine Translation Systems be Evaluated
    by the Crowd Alone?, Natural Language Engineering, section 3: the lengths of phrases.
    """
    blank = " " if " " in text.strip() else ""
    words = text.split() if blank else list(text)
    n = n_replaced(len(words))
    rng = generator(seed)
    for other in others:
        found = other.split() if blank else list(other)
        if len(found) < n or not n:
            continue
        # neither the first nor the last word, where there are enough in between
        edge = 1 if len(words) >= n + 2 else 0
        at = int(rng.integers(edge, len(words) - n - edge + 1))
        start = int(rng.integers(0, len(found) - n + 1))
        old, new = words[at : at + n], found[start : start + n]
        if [word.casefold() for word in old] != [word.casefold() for word in new]:
            changed = blank.join([*words[:at], *new, *words[at + n :]])
            return changed, blank.join(old), blank.join(new)
    return None


def n_replaced(n_words: int) -> int:
    """Say how many of so many words are replaced.

    Examples
    --------
    >>> [n_replaced(n) for n in (0, 1, 4, 8, 12, 20, 33)]
    [0, 1, 2, 3, 4, 5, 8]
    """
    if n_words == 0:
        return 0
    return next((n for most, n in _STEPS if n_words <= most), n_words // 4)
