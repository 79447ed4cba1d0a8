"""The record of an edit, in words for staff and appeals."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np

from genie.lib.seeds import generator, seed_from
from quality.test_questions.edits.languages.base import Language, language_of

# The kinds of edits and the quality that each breaks.
#
# A kind makes a text wrong (`ADEQUACY`: its content) or badly written (`FLUENCY`: its
# form). Each task defines which of its criteria asks for which.
ADEQUACY, FLUENCY = "adequacy", "fluency"


@dataclass(frozen=True)
class Kind:
    """One kind of edit.

    Parameters
    ----------
    leaves_out : bool
        The text loses content and gains nothing false: wrong only if an output must
        have the whole content of the input, as a translation must.
    """

    slug: str
    label: str
    harms: str
    leaves_out: bool = False


KINDS = {
    kind.slug: kind
    for kind in (
        Kind("entity", "a name changed", ADEQUACY),
        Kind("number", "a number changed", ADEQUACY),
        Kind("negation", "a negation added or taken away", ADEQUACY),
        Kind("opposite", "a word changed to its opposite", ADEQUACY),
        Kind("role", "two names or things changed places", ADEQUACY),
        Kind("unit", "a unit changed", ADEQUACY),
        Kind("thing", "a thing changed", ADEQUACY),
        Kind("clause-swapped", "a clause taken from elsewhere", ADEQUACY),
        Kind("answer", "a short answer changed to another one", ADEQUACY),
        Kind("clause-dropped", "a clause left out", ADEQUACY, leaves_out=True),
        Kind("word-order", "words put in a wrong order", FLUENCY),
        Kind("agreement", "words that no longer agree", FLUENCY),
    )
}


def kinds_that_harm(harms: str, *, says_everything: bool = False) -> Sequence[str]:
    """Return the slugs of the kinds of edits that break a quality.

    With `says_everything`, an output of the task must have the whole content of its
    input.
    """
    return tuple(
        kind.slug
        for kind in KINDS.values()
        if kind.harms == harms and (says_everything or not kind.leaves_out)
    )


CHANGED, ADDED, REMOVED = "changed", "added", "removed"
SWAPPED, REORDERED = "swapped", "reordered"

_SENTENCES = {
    CHANGED: "“{before}” was changed to “{after}”.",
    ADDED: "“{after}” was added.",
    REMOVED: "“{before}” was left out.",
    SWAPPED: "“{before}” and “{after}” changed places.",
    REORDERED: "The order of the words “{before}” was changed: “{after}”.",
}


@dataclass(frozen=True)
class Edit:
    """One edit of one text.

    Parameters
    ----------
    kind : str
        A slug of `kinds.KINDS`.
    before, after : str
        The old and the new part; for an exchange, the two parts.
    start : int
        Start of `before` in the original text, in characters.
    change : str
        The sort of change: one of the constants of this module.

    Examples
    --------
    >>> Edit("number", "3", "8", "It has 8 legs.", 7).sentence
    '“3” was changed to “8”.'
    """

    kind: str
    before: str
    after: str
    text: str
    start: int
    change: str = CHANGED

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.change].format(before=self.before, after=self.after)

    @property
    def harms(self) -> str:
        """Return which quality the edit breaks: adequacy or fluency."""
        return KINDS[self.kind].harms


@dataclass(frozen=True)
class Change:
    """A proposed edit: parts of the text and their replacements; see `Edit`.

    Parameters
    ----------
    parts : sequence of (int, int, str)
        Start, end and new text; in order, without overlap.
    tier : int
        0: before all others of its kind; the greater, the later.
    """

    kind: str
    parts: Sequence[tuple[int, int, str]]
    before: str
    after: str
    change: str = CHANGED
    tier: int = 1

    def apply(self, text: str) -> str:
        for start, end, new in sorted(self.parts, reverse=True):
            text = text[:start] + new + text[end:]
        return text


# Words of a text with their places.
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


def cache_results(function: F) -> F:
    """Cache a function's results for the texts of a few campaigns."""
    return cast("F", lru_cache(maxsize=20_000)(function))


@cache_results
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


@cache_results
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


def count_doubled(words: Sequence[Word]) -> int:
    """Count words that occur twice in a row, which is very rare in outputs."""
    return sum(
        a.text.casefold() == b.text.casefold() and a.text[0].isalnum()
        for a, b in pairwise(words)
    )


# A text to be edited, and the texts from which the rules take substitutes.

# A text with a smaller share of the language's function words is in a different one.
SPOKEN = 0.15
# limit of the number of other texts
N_OTHERS = 150


@dataclass(frozen=True)
class Draft:
    """One text, with the texts from which its parts can be replaced.

    Parameters
    ----------
    source_texts : sequence of str
        The fields of its input.
    other_texts : sequence of str
        Outputs and references of other inputs of the task.
    same_input : sequence of str
        Texts known to be right for the same input.
    """

    text: str
    language: type[Language]
    source_texts: Sequence[str]
    other_texts: Sequence[str]
    same_input: Sequence[str]
    rng: np.random.Generator

    @cached_property
    def words(self) -> Sequence[Word]:
        return words_of(self.text)

    @cached_property
    def own(self) -> frozenset[str]:
        return frozenset(word.text.casefold() for word in self.words)

    @cached_property
    def right(self) -> frozenset[str]:
        return frozenset(
            word.text.casefold() for text in self.same_input for word in words_of(text)
        )

    def elsewhere(self, *, same_language: bool = True) -> Iterator[tuple[int, str]]:
        """Yield texts to take parts from: its source first (0), then others (1)."""
        for text in self.source_texts:
            if not same_language or speaks(text, self.language):
                yield 0, text
        for text in self.other_texts:
            yield 1, text

    def once(self, part: str) -> bool:
        """Check whether a part occurs in the text only once."""
        return self.text.casefold().count(part.casefold()) == 1

    def is_new(self, part: str) -> bool:
        """Check whether a part is neither in the text nor in a right one."""
        words = {word.text.casefold() for word in words_of(part)}
        return not words & self.own and not words & self.right

    def is_new_sign(self, sign: str) -> bool:
        """Check the same of a sign that is no word."""
        return sign not in self.text and not any(sign in t for t in self.same_input)

    def confirms(self, part: str) -> bool:
        """Check whether a right text contains the part, too."""
        return {word.text.casefold() for word in words_of(part)} <= self.right


def draft_of(
    text: str,
    language: str = "en",
    *,
    source_texts: Sequence[str] = (),
    other_texts: Sequence[str] = (),
    same_input: Sequence[str] = (),
    seed: int = 0,
) -> Draft:
    """Create a draft; the other texts are as in `make.edits_of`.

    Examples
    --------
    >>> draft_of("It is late.").once("late")
    True
    """
    rng = generator(seed_from("edit", seed, text))
    drawn = rng.permutation(len(other_texts))[:N_OTHERS]
    return Draft(
        text=text,
        language=language_of(language),
        source_texts=tuple(source_texts),
        other_texts=[other_texts[int(place)] for place in drawn],
        same_input=tuple(same_input),
        rng=rng,
    )


def speaks(text: str, language: type[Language]) -> bool:
    """Check whether a text is in a language, by the words that each sentence has.

    True if the language has no list of such words.
    """
    if not language.function_words:
        return True
    words = [word.text.lower() for word in words_of(text) if word.is_word]
    hits = sum(word in language.function_words for word in words)
    return bool(words) and hits >= SPOKEN * len(words)
