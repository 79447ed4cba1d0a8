"""Things: nouns after an article, changed or exchanged; and short answers."""

from collections.abc import Iterator

from quality.test_questions.edits.draft import Draft
from quality.test_questions.edits.edit import Change
from quality.test_questions.edits.languages.base import Language
from quality.test_questions.edits.rules.names import coordinated, exchanged
from quality.test_questions.edits.words import (
    Word,
    cached,
    cased_like,
    plain,
    words_of,
)

SHORT = 6
_NO_NOUN = ("ly", "ing", "ed", "est")
LEAST = 3


@cached
def nouns_in(text: str, language: type[Language]) -> tuple[tuple[str, Word], ...]:
    """Return nouns with the article before them.

    Without a parser a noun is a single word between an article and a word that cannot
    belong to it; if the language capitalizes nouns, the capital marks it.

    Examples
    --------
    >>> from quality.test_questions.edits.languages.en import English
    >>> [noun.text for _, noun in nouns_in("The ferry to the big island left.", English)]
    ['ferry']
    """
    words = words_of(text)
    found = []
    for index in range(1, len(words)):
        before, word = words[index - 1], words[index]
        if before.text.lower() not in language.determiners or not word.is_word:
            continue
        after = words[index + 1] if index + 1 < len(words) else None
        if _is_noun(word, after, language):
            found.append((before.text.lower(), word))
    return tuple(found)


def _is_noun(word: Word, after: Word | None, language: type[Language]) -> bool:
    if len(word.text) < LEAST or "-" in word.text or "'" in word.text:
        return False
    if language.capital_nouns:
        return word.capital
    ends = (
        after is None
        or not after.text[0].isalnum()
        or after.text.lower() in language.function_words
    )
    return (
        ends
        and not word.capital
        and word.text not in language.function_words
        and not word.text.endswith(_NO_NOUN)
    )


def things(draft: Draft) -> Iterator[Change]:
    """Yield changes of a noun to one that follows the same article in other texts."""
    own = [
        pair
        for pair in nouns_in(draft.text, draft.language)
        if draft.once(pair[1].text)
    ]
    offered: dict[str, dict[str, int]] = {}
    for tier, text in draft.elsewhere() if own else ():
        for article, noun in nouns_in(text, draft.language):
            if draft.is_new(noun.text):
                offered.setdefault(article, {}).setdefault(noun.text, tier)
    for article, word in own:
        for other, tier in offered.get(article, {}).items():
            if draft.language.same_form(word.text, other):
                yield Change(
                    "thing",
                    [(word.start, word.end, cased_like(other, word.text))],
                    word.text,
                    other,
                    tier=2 * tier + (0 if draft.confirmed(word.text) else 1),
                )


def exchanged_things(draft: Draft) -> Iterator[Change]:
    """Yield exchanges of two nouns after the same article.

    Examples
    --------
    >>> from quality.test_questions.edits.draft import draft_of
    >>> draft = draft_of("The cat is in the box.")
    >>> [change.applied(draft.text) for change in exchanged_things(draft)]
    ['The box is in the cat.']
    """
    own = [
        pair
        for pair in nouns_in(draft.text, draft.language)
        if draft.once(pair[1].text)
    ]
    for index, (article, one) in enumerate(own):
        for other, two in own[index + 1 :]:
            if (
                article == other
                and draft.language.same_form(one.text, two.text)
                and not coordinated(draft, one.end, two.start - len(other) - 1)
            ):
                yield exchanged(draft, "role", one, two)


def answers(draft: Draft) -> Iterator[Change]:
    """Yield changes of a whole short answer to a similar one."""
    words = [word for word in draft.words if word.text[0].isalnum()]
    if not words or len(words) > SHORT:
        return
    text = draft.text.strip()
    start = draft.text.find(text)
    for other in draft.other_texts:
        new = other.strip()
        n = sum(word.text[0].isalnum() for word in words_of(new))
        if n != len(words) or plain(new) == plain(text):
            continue
        # An answer with a different beginning or end would stand out.
        if new[0].isupper() == text[0].isupper() and _end(new) == _end(text):
            yield Change("answer", [(start, start + len(text), new)], text, new)


def _end(text: str) -> str:
    return "" if text[-1].isalnum() else text[-1]
