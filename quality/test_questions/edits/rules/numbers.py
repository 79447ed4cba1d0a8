"""Numbers and units."""

import re
from collections.abc import Iterator
from itertools import pairwise

from quality.test_questions.edits.draft import Draft
from quality.test_questions.edits.edit import Change
from quality.test_questions.edits.rules.names import (
    coordinated,
    exchanged,
    within_groups,
)
from quality.test_questions.edits.words import Word, cased_like, words_of

_CLOCK = re.compile(r"([01]?\d|2[0-3])([.:])([0-5]\d)$")
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d$")
N_MADE = 4


def numbers(draft: Draft) -> Iterator[Change]:
    """Yield exchanges of two numbers and changes to one of the same length."""
    own = [word for word in draft.words if word.is_number and draft.once(word.text)]
    for index, one in enumerate(own):
        for two in own[index + 1 :]:
            if _shape(one.text) == _shape(two.text) and not coordinated(
                draft, one.end, two.start
            ):
                yield exchanged(draft, "number", one, two)
    for word in own:
        yield from _from_elsewhere(draft, word)
        # Numbers in other scripts' digits are only taken from other texts.
        for _ in range(N_MADE if word.text.isascii() else 0):
            new = _made(draft, word.text)
            if draft.is_new(new):
                yield _changed(word, new, 2)
    yield from within_groups(draft, "number", draft.language.number_words)


def _from_elsewhere(draft: Draft, word: Word) -> Iterator[Change]:
    for text in draft.source_texts:
        for other in words_of(text):
            if (
                other.is_number
                and _shape(other.text) == _shape(word.text)
                and draft.is_new(other.text)
            ):
                yield _changed(word, other.text, 1)


def _changed(word: Word, new: str, tier: int) -> Change:
    return Change("number", [(word.start, word.end, new)], word.text, new, tier=tier)


def _shape(number: str) -> tuple[str, bool]:
    return re.sub(r"\d", "0", number), bool(_YEAR.match(number))


def _made(draft: Draft, number: str) -> str:
    """Return a new number of the same form.

    Times stay times, years stay near, days and months stay possible.
    """
    rng = draft.rng
    clock = _CLOCK.match(number)
    if clock:
        hour, point, minute = clock.groups()
        low, high = (1, 9) if len(hour) == 1 else (10, 23)
        new = int(rng.integers(low, high + 1))
        return f"{new:0{len(hour)}d}{point}{minute}"
    if _YEAR.match(number):
        return str(int(number) + int(rng.choice([-9, -7, -4, -3, -2, 2, 3, 4, 6])))
    if number.isdigit() and len(number) == 1:
        return str(rng.integers(2, 10))
    if number.isdigit() and len(number) == 2:
        low, high = (10, 31) if int(number) <= 31 else (32, 100)
        return str(rng.integers(low, high))
    # The first digit has most of the meaning, and the rest keeps its form.
    return f"{rng.integers(1, 10)}{number[1:]}"


def units(draft: Draft) -> Iterator[Change]:
    """Yield changes of a unit after a number to another one of its group."""
    number_words = {member for group in draft.language.number_words for member in group}
    counted = set()
    for before, word in pairwise(draft.words):
        if before.is_number or before.text.lower() in number_words:
            counted.add(word.start)
    for change in within_groups(draft, "unit", draft.language.units):
        if change.parts[0][0] in counted:
            yield change
    yield from _signs(draft)


def _signs(draft: Draft) -> Iterator[Change]:
    for group in draft.language.units:
        signs = [member for member in group if not member[0].isalpha()]
        for word in draft.words:
            for sign in signs:
                if word.text in signs and sign != word.text and draft.is_new_sign(sign):
                    yield Change(
                        "unit", [(word.start, word.end, sign)], word.text, sign
                    )


def opposites(draft: Draft) -> Iterator[Change]:
    """Yield changes of a word to its opposite."""
    pairs = [*draft.language.opposites, *((b, a) for a, b in draft.language.opposites)]
    table: dict[str, list[str]] = {}
    for old, new in pairs:
        table.setdefault(old, []).append(new)
    for word in draft.words:
        for new in table.get(word.text.lower(), ()):
            if draft.is_new(new) and draft.once(word.text):
                yield Change(
                    "opposite",
                    [(word.start, word.end, cased_like(new, word.text))],
                    word.text,
                    cased_like(new, word.text),
                    tier=0 if draft.confirmed(word.text) else 1,
                )
