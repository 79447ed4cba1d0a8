"""What a language offers to the rules; by itself, what holds for any language."""

from collections.abc import Sequence
from functools import cache

from genie.lib.extension import discover

Groups = Sequence[Sequence[str]]
Pairs = Sequence[tuple[str, str]]


def groups(text: str) -> Groups:
    """Read groups of words: members between commas, groups between semicolons."""
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
    """Word lists for the rules of edits; empty ones switch a rule off.

    All words are in lower case unless the language always writes them otherwise; the
    rules give a word the capitals of the one that it takes the place of.
    """

    slug = "any"
    # members of a group may take each other's place
    number_words: Groups = ()
    names: Groups = ()
    units: Groups = groups("km, m, cm; kg, g, t; €, $, £")
    # both directions hold
    opposites: Pairs = ()
    # (regular expression, replacement): a negation added, and one taken away
    add_negation: Pairs = ()
    remove_negation: Pairs = ()
    # a word and the form that does not agree
    agreement: Pairs = ()
    determiners: frozenset[str] = frozenset()
    # words that are no names and no nouns
    function_words: frozenset[str] = frozenset()
    # words that begin a clause that can be left out
    joiners: frozenset[str] = frozenset()
    # all nouns have a capital, so that a capital does not make a name
    capital_nouns = False

    @classmethod
    def same_form(cls, old: str, new: str) -> bool:
        """Return whether a noun can take another one's place in its sentence.

        Examples
        --------
        >>> Language.same_form("cat", "dog")
        True
        """
        return bool(old) and bool(new)


@cache
def all_languages() -> dict[str, type[Language]]:
    """Find the languages, by code."""
    return discover("quality.test_questions.edits.languages", Language)


def language_of(code: str) -> type[Language]:
    """Return what is known of a language: of its code, of the code's first part, or of any."""
    known = all_languages()
    return known.get(code) or known.get(code.partition("-")[0]) or Language
