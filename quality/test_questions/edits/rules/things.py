"""Things: nouns after an article, changed or exchanged; and short answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quality.test_questions.edits.edit import (
    SWAPPED,
    Change,
    Draft,
    Word,
    cache_results,
    cased_like,
    plain,
    words_of,
)
from quality.test_questions.edits.languages.base import Language

# Names: one replaced by another one, or two exchanged.
_ENDINGS = ("'s", "’s")
# a text with at most this many words may consist of names
LEAST = 5


@dataclass(frozen=True)
class Name:
    text: str
    start: int
    end: int
    before: str

    @property
    def shape(self) -> tuple[object, ...]:
        return len(self.text.split()), self.text.isupper(), min(len(self.text), 4) < 4


@cache_results
def names_in(
    text: str, language: type[Language], known: frozenset[str] = frozenset()
) -> tuple[Name, ...]:
    """Return the names of a text by their capitals.

    The first word of a sentence counts if it is `known` as a name. In a language
    that capitalizes all nouns, a name is a noun without an article.

    Examples
    --------
    >>> from quality.test_questions.edits.languages.en import English
    >>> [name.text for name in names_in("Then Eve Hall met Bob's dog.", English)]
    ['Eve Hall', 'Bob']
    """
    words = words_of(text)
    if not language.capital_nouns and _is_headline(words):
        return ()
    found, run = [], list[Word]()
    for index, word in enumerate(words):
        if run and text[run[-1].end : word.start] != " ":
            found.append(run)
            run = []
        if _is_name(word, words[index - 1] if index else None, language, known, run):
            run = [*run, word]
        elif run:
            found.append(run)
            run = []
    if run:
        found.append(run)
    return tuple(_name(text, words, run) for run in found)


def _is_headline(words: Sequence[Word]) -> bool:
    inner = [word for word in words if word.is_word and not word.first]
    return len(inner) > LEAST and 2 * sum(w.capital for w in inner) > len(inner)


def _is_name(
    word: Word,
    previous: Word | None,
    language: type[Language],
    known: frozenset[str],
    run: Sequence[Word],
) -> bool:
    if not word.is_word or not word.capital or len(word.text) < 2:
        return False
    if word.text.lower() in language.function_words:
        return False
    if word.text.endswith(("n't", "n’t", "'m", "’m", "'ll", "’ll", "'ve", "’ve")):
        return False
    if word.first and not run:
        return _bare(word.text) in known
    if not language.capital_nouns or run:
        return True
    left = previous.text.lower() if previous is not None else ""
    return left in language.function_words - language.determiners


def _bare(text: str) -> str:
    for ending in _ENDINGS:
        text = text.removesuffix(ending)
    return text


def _name(text: str, words: Sequence[Word], run: Sequence[Word]) -> Name:
    start = run[0].start
    end = start + len(_bare(text[start : run[-1].end]))
    before = [word for word in words if word.end <= start]
    return Name(text[start:end], start, end, before[-1].text.lower() if before else "")


def known_names(texts: Sequence[str], language: type[Language]) -> frozenset[str]:
    """Return the words that are names somewhere inside a sentence.

    Examples
    --------
    >>> from quality.test_questions.edits.languages.en import English
    >>> sorted(known_names(["Then Eve met Bob."], English))
    ['Bob', 'Eve']
    """
    return frozenset(
        word
        for text in texts
        for name in names_in(text, language)
        for word in name.text.split()
    )


def entities(draft: Draft) -> Iterator[Change]:
    """Yield changes of a name to one of the same shape, or of a closed group."""
    yield from within_groups(draft, "entity", draft.language.names)
    texts = [text for _, text in draft.elsewhere()]
    known = known_names([draft.text, *texts], draft.language)
    own = [n for n in names_in(draft.text, draft.language, known) if draft.once(n.text)]
    closed = {member.casefold() for group in draft.language.names for member in group}
    offered: dict[tuple[object, ...], dict[str, tuple[int, str]]] = {}
    for tier, text in draft.elsewhere() if own else ():
        for name in names_in(text, draft.language):
            if name.text.casefold() not in closed and draft.is_new(name.text):
                offered.setdefault(name.shape, {}).setdefault(
                    name.text, (tier, name.before)
                )
    for name in own:
        if name.text.casefold() in closed:
            continue
        for other, (tier, before) in offered.get(name.shape, {}).items():
            # Names after the same word are mostly of the same sort: a place, a person.
            far = 0 if before == name.before else 2
            yield Change(
                "entity",
                [(name.start, name.end, other)],
                name.text,
                other,
                tier=tier + far,
            )


def roles(draft: Draft) -> Iterator[Change]:
    """Yield exchanges of two names of the same shape."""
    known = known_names([draft.text, *draft.source_texts], draft.language)
    own = [n for n in names_in(draft.text, draft.language, known) if draft.once(n.text)]
    group_of = {member: group for group in draft.language.names for member in group}
    for index, one in enumerate(own):
        for two in own[index + 1 :]:
            if (
                len(one.text.split()) == len(two.text.split())
                # A month and a person are not exchanged.
                and group_of.get(one.text) == group_of.get(two.text)
                and not are_coordinated(draft, one.end, two.start)
            ):
                yield exchange(draft, "role", one, two)


def exchange(draft: Draft, kind: str, one: Name | Word, two: Name | Word) -> Change:
    """Return the exchange of two parts of the text; a first word keeps its capital.

    Examples
    --------
    >>> from quality.test_questions.edits.edit import draft_of
    >>> draft = draft_of("From 5 to 9.")
    >>> one, two = (word for word in draft.words if word.is_number)
    >>> exchange(draft, "number", one, two).apply(draft.text)
    'From 9 to 5.'
    """
    first, second = one.text, two.text
    return Change(
        kind,
        [
            (one.start, one.end, cased_like(second, first)),
            (
                two.start,
                two.end,
                first if first[:1].isdigit() else _inner(draft, one, two),
            ),
        ],
        first,
        second,
        SWAPPED,
        tier=0,
    )


def _inner(draft: Draft, one: Name | Word, two: Name | Word) -> str:
    word = next((w for w in draft.words if w.start == one.start), None)
    if word is not None and word.first and two.text[:1].islower():
        return one.text[:1].lower() + one.text[1:]
    return one.text


def are_coordinated(draft: Draft, start: int, end: int) -> bool:
    """Check whether only “and”, “or” or commas and names are between two parts.

    Then their order has no meaning: “Anna and Ben met” is “Ben and Anna met”.

    Examples
    --------
    >>> from quality.test_questions.edits.edit import draft_of
    >>> draft = draft_of("Anna and Ben met Eve.")
    >>> are_coordinated(draft, 4, 9), are_coordinated(draft, 12, 17)
    (True, False)
    """
    between = words_of(draft.text[start:end])
    return all(
        word.text.lower() in {"and", "or", "und", "oder", ",", "/", "-", "–", "&"}
        or word.capital
        for word in between
    )


def within_groups(
    draft: Draft, kind: str, groups: Sequence[Sequence[str]]
) -> Iterator[Change]:
    """Yield changes of a word to another one of its closed group.

    Examples
    --------
    >>> from quality.test_questions.edits.edit import draft_of
    >>> draft = draft_of("It was red.")
    >>> [c.after for c in within_groups(draft, "entity", [("red", "blue")])]
    ['blue']
    """
    for group in groups:
        members = {member.casefold(): member for member in group}
        for word in draft.words:
            old = _bare(word.text)
            if old.casefold() not in members or not draft.once(old):
                continue
            if members[old.casefold()][:1].isupper() and not old[:1].isupper():
                continue  # may (the verb) is not May
            for key, member in members.items():
                if key != old.casefold() and draft.is_new(member):
                    new = cased_like(member, old)
                    yield Change(
                        kind,
                        [(word.start, word.start + len(old), new)],
                        old,
                        new,
                        tier=0 if draft.confirms(old) else 1,
                    )


SHORT = 6
_NO_NOUN = ("ly", "ing", "ed", "est")
LEAST_OF_NOUN = 3


@cache_results
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
    if len(word.text) < LEAST_OF_NOUN or "-" in word.text or "'" in word.text:
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
                    tier=2 * tier + (0 if draft.confirms(word.text) else 1),
                )


def exchanged_things(draft: Draft) -> Iterator[Change]:
    """Yield exchanges of two nouns after the same article.

    Examples
    --------
    >>> from quality.test_questions.edits.edit import draft_of
    >>> draft = draft_of("The cat is in the box.")
    >>> [change.apply(draft.text) for change in exchanged_things(draft)]
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
                and not are_coordinated(draft, one.end, two.start - len(other) - 1)
            ):
                yield exchange(draft, "role", one, two)


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
