"""Words for counting: lower case, without the punctuation around them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

# Written without spaces between words: each character counts as a word there.
UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def plain_words(text: str, language: str = "en") -> list[str]:
    """Split a text into words that can be compared with other texts' words.

    Parameters
    ----------
    text : str
    language : str, optional
        ISO 639-1 code. Chinese, Japanese, Thai, Lao, Khmer and Burmese are counted in
        characters, as they put no spaces between words.

    Returns
    -------
    list of str
        Case-folded; punctuation and symbols stripped from both ends of each word, and
        what consists of nothing else left out. Marks inside a word stay.

    Examples
    --------
    >>> plain_words("“Don't,” said the cat … 3.5 times!")
    ["don't", 'said', 'the', 'cat', '3.5', 'times']
    >>> plain_words("我喜欢猫。", "zh")
    ['我', '喜', '欢', '猫']
    """
    # casefold, not lower: it also makes ß and ss the same
    folded = text.casefold()
    if language in UNSPACED:
        return [character for character in folded if not _is_mark(character)]
    return [word for raw in folded.split() if (word := _stripped(raw))]


def n_grams(words: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    """Give the runs of `order` words, in their order.

    Parameters
    ----------
    words : sequence of str
    order : int
        At least 1.

    Returns
    -------
    iterator of tuples of str
        Nothing when there are fewer than `order` words.

    Examples
    --------
    >>> list(n_grams(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    return zip(*(words[start:] for start in range(order)), strict=False)


@lru_cache(maxsize=2**16)
def _stripped(word: str) -> str:
    start, end = 0, len(word)
    while start < end and _is_mark(word[start]):
        start += 1
    while end > start and _is_mark(word[end - 1]):
        end -= 1
    return word[start:end]


def _is_mark(character: str) -> bool:
    # punctuation, symbols, separators, controls; not letters, marks on them, numbers
    return unicodedata.category(character)[0] in "PSZC"
