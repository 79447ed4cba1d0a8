"""A text to be edited, and the texts from which the rules take substitutes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from genie.lib.seeds import generator, seed_from
from quality.test_questions.edits.languages.base import Language, language_of
from quality.test_questions.edits.words import Word, words_of

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

    def confirmed(self, part: str) -> bool:
        """Check whether a right text contains the part, too."""
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
