"""The language data of the rules; the base class has the data for any language."""

from collections.abc import Sequence
from functools import cache

from genie.lib.extension import discover

Groups = Sequence[Sequence[str]]
Pairs = Sequence[tuple[str, str]]


def groups(text: str) -> Groups:
    """Read groups of words: commas between members, semicolons between groups.

    Examples
    --------
    >>> groups("km, m; kg, g;")
    (('km', 'm'), ('kg', 'g'))
    """
    return tuple(
        tuple(" ".join(word.split()) for word in group.split(","))
        for group in text.split(";")
        if group.strip()
    )


def pairs(text: str) -> Pairs:
    """Read pairs of words, written as groups of two."""
    return tuple((one, two) for one, two in groups(text))


def word_set(text: str) -> frozenset[str]:
    """Read words with spaces between them.

    Examples
    --------
    >>> sorted(word_set("the a an"))
    ['a', 'an', 'the']
    """
    return frozenset(text.split())


class Language:
    """Word lists for the rules of edits; an empty one disables a rule.

    All words are in lower case unless the language always capitalizes them; the
    rules copy the capitals of the replaced word.
    """

    slug = "any"
    # members of a group can replace each other
    number_words: Groups = ()
    names: Groups = ()
    units: Groups = groups("km, m, cm; kg, g, t; €, $, £")
    # in both directions
    opposites: Pairs = ()
    # (regular expression, replacement): a negation added, and one taken away
    add_negation: Pairs = ()
    remove_negation: Pairs = ()
    # a word and the form that does not agree
    agreement: Pairs = ()
    determiners: frozenset[str] = frozenset()
    # words that are neither names nor nouns
    function_words: frozenset[str] = frozenset()
    # words that begin an optional clause
    joiners: frozenset[str] = frozenset()
    # all nouns have a capital, so that a capital does not mark a name
    capital_nouns = False

    @classmethod
    def same_form(cls, old: str, new: str) -> bool:
        return bool(old) and bool(new)


@cache
def all_languages() -> dict[str, type[Language]]:
    """Return the languages, by code."""
    return discover("quality.test_questions.edits.languages", Language)


def language_of(code: str) -> type[Language]:
    """Return the data of a language, by its code, the code's first part, or "any"."""
    known = all_languages()
    return known.get(code) or known.get(code.partition("-")[0]) or Language
