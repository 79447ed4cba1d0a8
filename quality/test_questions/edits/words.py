"""Words of a text with their places."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])

_TOKEN = re.compile(
    r"\d+(?:[.,:/]\d+)*"  # numbers, times and dates are one word
    r"|[^\W\d_]+(?:['’\-][^\W\d_]+)*"
    r"|\w+|[^\w\s]"
)
_ENDS = frozenset(".!?…。！？")
_QUOTES = frozenset("\"'“”„‚‘’«»()[]-–—")


@dataclass(frozen=True)
class Word:
    """A word, number or punctuation mark, and its place."""

    text: str
    start: int
    end: int
    # the first word of a sentence, which has a capital for that reason
    first: bool

    @property
    def is_word(self) -> bool:
        return self.text[0].isalpha()

    @property
    def is_number(self) -> bool:
        return self.text[0].isdecimal()

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()


def cached(function: F) -> F:
    """Cache a function's results for the texts of a few campaigns."""
    return cast("F", lru_cache(maxsize=20_000)(function))


@cached
def words_of(text: str) -> tuple[Word, ...]:
    """Split a text into words, numbers and punctuation marks."""
    found = []
    first = True
    for match in _TOKEN.finditer(text):
        token = match.group()
        found.append(Word(token, match.start(), match.end(), first))
        if token in _ENDS:
            first = True
        elif token not in _QUOTES:
            first = False
    return tuple(found)


@cached
def plain(text: str) -> str:
    """Return a text without case, punctuation and spacing, for comparisons."""
    return " ".join(
        word.text.casefold() for word in words_of(text) if word.text[0].isalnum()
    )


def cased_like(new: str, old: str) -> str:
    """Return `new` with the capitals of `old`: all, the first letter, or none.

    Examples
    --------
    >>> cased_like("less", "More"), cased_like("less", "MORE"), cased_like("kg", "km")
    ('Less', 'LESS', 'kg')
    """
    if len(old) > 1 and old.isupper():
        return new.upper()
    if old[:1].isupper():
        return new[:1].upper() + new[1:]
    return new


def doubled(words: Sequence[Word]) -> int:
    """Count words that occur twice in a row, which is very rare in outputs."""
    return sum(
        a.text.casefold() == b.text.casefold() and a.text[0].isalnum()
        for a, b in pairwise(words)
    )
