"""Words of a text with their places, and texts put together again as they were."""

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
    """A word, number or punctuation mark, and where it stands."""

    text: str
    start: int
    end: int
    # the first word of a sentence has its capital for that reason
    first: bool

    @property
    def is_word(self) -> bool:
        """Return words from numbers and punctuation marks."""
        return self.text[0].isalpha()

    @property
    def is_number(self) -> bool:
        """Return numbers in digits."""
        return self.text[0].isdecimal()

    @property
    def capital(self) -> bool:
        """Return whether it begins with a capital letter."""
        return self.text[0].isupper()


def cached(function: F) -> F:
    """Remember what a function has found in the texts of a few campaigns."""
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
    """Return a text without case, punctuation and spacing, to tell whether two are the same."""
    return " ".join(
        word.text.casefold() for word in words_of(text) if word.text[0].isalnum()
    )


def cased_like(new: str, old: str) -> str:
    """Return `new` the capitals of `old`: all, the first letter, or none of them.

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
    """Count words that stand twice in a row, as they hardly ever do in outputs."""
    return sum(
        a.text.casefold() == b.text.casefold() and a.text[0].isalnum()
        for a, b in pairwise(words)
    )
