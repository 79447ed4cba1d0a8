"""A text that is to be edited, and what the rules may take from elsewhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from genie.lib.seeds import generator, seed_from
from quality.test_questions.edits.languages.base import Language, language_of
from quality.test_questions.edits.words import Word, words_of

# a text of which fewer words are the language's function words is in another language
SPOKEN = 0.15
# so many texts of others are looked at
N_OTHERS = 150


@dataclass(frozen=True)
class Draft:
    """One text, with what may take the place of its parts.

    Parameters
    ----------
    source_texts : sequence of str
        The fields of its input.
    other_texts : sequence of str
        Outputs and references of other inputs of the task.
    same_input : sequence of str
        Texts that are right for the same input, as far as is known.
    """

    text: str
    language: type[Language]
    source_texts: Sequence[str]
    other_texts: Sequence[str]
    same_input: Sequence[str]
    rng: np.random.Generator

    @cached_property
    def words(self) -> Sequence[Word]:
        """Return the words of the text."""
        return words_of(self.text)

    @cached_property
    def own(self) -> frozenset[str]:
        """Return the words of the text, without case."""
        return frozenset(word.text.casefold() for word in self.words)

    @cached_property
    def right(self) -> frozenset[str]:
        """Return the words of texts that are right for this input, without case."""
        return frozenset(
            word.text.casefold() for text in self.same_input for word in words_of(text)
        )

    def elsewhere(self, *, same_language: bool = True) -> Iterator[tuple[int, str]]:
        """Offer texts to take parts from: of its own source first (0), then others (1)."""
        for text in self.source_texts:
            if not same_language or speaks(text, self.language):
                yield 0, text
        for text in self.other_texts:
            yield 1, text

    def once(self, part: str) -> bool:
        """Return whether a part stands in the text only once."""
        return self.text.casefold().count(part.casefold()) == 1

    def is_new(self, part: str) -> bool:
        """Return whether a part is neither in the text nor in what is right for it."""
        words = {word.text.casefold() for word in words_of(part)}
        return not words & self.own and not words & self.right

    def is_new_sign(self, sign: str) -> bool:
        """Return the same of a sign that is no word."""
        return sign not in self.text and not any(sign in t for t in self.same_input)

    def confirmed(self, part: str) -> bool:
        """Return whether what is right for this input says so, too."""
        words = {word.text.casefold() for word in words_of(part)}
        return words <= self.right


def draft_of(
    text: str,
    language: str = "en",
    *,
    source_texts: Sequence[str] = (),
    other_texts: Sequence[str] = (),
    same_input: Sequence[str] = (),
    seed: int = 0,
) -> Draft:
    """Begin a draft.

    Parameters
    ----------
    language : str, optional
        Its code.
    source_texts, other_texts, same_input : sequence of str, optional
        As in `make.edits_of`.

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
    """Return whether a text is in a language, by the words that each sentence has.

    Where the language has no such words it cannot be told; then it is.
    """
    if not language.function_words:
        return True
    words = [word.text.lower() for word in words_of(text) if word.is_word]
    hits = sum(word in language.function_words for word in words)
    return bool(words) and hits >= SPOKEN * len(words)
