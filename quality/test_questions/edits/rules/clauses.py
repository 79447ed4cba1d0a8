"""Clauses: left out, or taken from other texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quality.test_questions.edits.edit import (
    CHANGED,
    REMOVED,
    REORDERED,
    Change,
    Draft,
    Word,
    cased_like,
    words_of,
)
from quality.test_questions.edits.rules.things import (
    are_coordinated,
    exchange,
    within_groups,
)

_BREAK = re.compile(r"[,;:，；、]\s*|\s[–—-]\s")
_FULL_STOP = re.compile(r"[.!?…。！？]+[\"'”’»)]*\s*$")
LEAST_WORDS = 3
LEAST_LETTERS = 16
# limits: share of the text of an omitted clause, relative length of a new one
MOST_LEFT_OUT = 0.45
LONGER = 1.25
N_OFFERED = 30


@dataclass(frozen=True)
class Clause:
    start: int
    end: int
    text: str
    last: bool

    @property
    def first_word(self) -> str:
        words = words_of(self.text)
        return words[0].text.lower() if words else ""


def clauses_of(text: str) -> list[Clause]:
    """Split a text at commas, semicolons, colons and dashes; the full stop stays outside.

    Examples
    --------
    >>> [clause.text for clause in clauses_of("If it rains, we stay at home.")]
    ['If it rains', 'we stay at home']
    """
    stop = _FULL_STOP.search(text)
    end = stop.start() if stop else len(text)
    cuts = [match.span() for match in _BREAK.finditer(text, 0, end)]
    starts = [0, *(b for _, b in cuts)]
    ends = [*(a for a, _ in cuts), end]
    return [
        Clause(a, b, text[a:b], b == end) for a, b in zip(starts, ends, strict=True)
    ]


def _is_long(clause: Clause) -> bool:
    n = sum(word.text[0].isalnum() for word in words_of(clause.text))
    # a language without spaces has few words and many letters
    return n >= LEAST_WORDS or (n > 0 and len(clause.text) >= LEAST_LETTERS)


def drop_clauses(draft: Draft) -> Iterator[Change]:
    """Yield changes that omit a clause and keep the text's beginning and end."""
    clauses = clauses_of(draft.text)
    if len(clauses) < 2:
        return
    for index, clause in enumerate(clauses):
        share = len(clause.text) / len(draft.text)
        if not _is_long(clause) or share > MOST_LEFT_OUT or "." in clause.text:
            continue
        if index == 0:
            following = clauses[1]
            head = draft.text[following.start : following.start + 1]
            yield Change(
                "clause-dropped",
                [(0, following.start + 1, head.upper())],
                clause.text,
                "",
                REMOVED,
            )
        else:
            yield Change(
                "clause-dropped",
                [(clauses[index - 1].end, clause.end, "")],
                clause.text,
                "",
                REMOVED,
                tier=0,
            )
    yield from _after_joiners(draft)


def _after_joiners(draft: Draft) -> Iterator[Change]:
    stop = _FULL_STOP.search(draft.text)
    end = stop.start() if stop else len(draft.text)
    for word in draft.words[1:]:
        tail = draft.text[word.start : end]
        if (
            word.text in draft.language.joiners
            and len(tail) <= MOST_LEFT_OUT * len(draft.text)
            and len(tail.split()) >= LEAST_WORDS
            and draft.text[word.start - 1 : word.start] == " "
            and not _BREAK.search(tail)
        ):
            yield Change(
                "clause-dropped", [(word.start - 1, end, "")], tail, "", REMOVED
            )


def replace_clauses(draft: Draft) -> Iterator[Change]:
    """Yield changes that replace a clause by another one with the same first word."""
    own = [clause for clause in clauses_of(draft.text)[1:] if _is_long(clause)]
    if not own:
        return
    n = 0
    for tier, text in draft.elsewhere():
        for other in clauses_of(text)[1:]:
            for clause in own:
                if n < N_OFFERED and _can_replace(draft, clause, other):
                    n += 1
                    yield Change(
                        "clause-swapped",
                        [(clause.start, clause.end, other.text)],
                        clause.text,
                        other.text,
                        CHANGED,
                        tier=tier,
                    )


def _can_replace(draft: Draft, clause: Clause, other: Clause) -> bool:
    ratio = len(other.text) / len(clause.text)
    return (
        _is_long(other)
        and clause.last == other.last
        and 1 / LONGER <= ratio <= LONGER
        and "." not in other.text
        # without word lists only the marks show that it fits
        and (clause.first_word == other.first_word or not draft.language.function_words)
        and other.text[0].isupper() == clause.text[0].isupper()
        and other.text not in draft.text
    )


# Numbers and units.
_CLOCK = re.compile(r"([01]?\d|2[0-3])([.:])([0-5]\d)$")
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d$")
N_MADE = 4


def numbers(draft: Draft) -> Iterator[Change]:
    """Yield exchanges of two numbers and changes to one of the same length."""
    own = [word for word in draft.words if word.is_number and draft.once(word.text)]
    for index, one in enumerate(own):
        for two in own[index + 1 :]:
            if _shape(one.text) == _shape(two.text) and not are_coordinated(
                draft, one.end, two.start
            ):
                yield exchange(draft, "number", one, two)
    for word in own:
        yield from _from_elsewhere(draft, word)
        # Numbers in other scripts' digits are only taken from other texts.
        for _ in range(N_MADE if word.text.isascii() else 0):
            new = _new_number(draft, word.text)
            if draft.is_new(new):
                yield _change_number(word, new, 2)
    yield from within_groups(draft, "number", draft.language.number_words)


def _from_elsewhere(draft: Draft, word: Word) -> Iterator[Change]:
    for text in draft.source_texts:
        for other in words_of(text):
            if (
                other.is_number
                and _shape(other.text) == _shape(word.text)
                and draft.is_new(other.text)
            ):
                yield _change_number(word, other.text, 1)


def _change_number(word: Word, new: str, tier: int) -> Change:
    return Change("number", [(word.start, word.end, new)], word.text, new, tier=tier)


def _shape(number: str) -> tuple[str, bool]:
    return re.sub(r"\d", "0", number), bool(_YEAR.match(number))


def _new_number(draft: Draft, number: str) -> str:
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
                    tier=0 if draft.confirms(word.text) else 1,
                )


# Fluency: words in a wrong order, and words that do not agree.
LEAST, MOST = 3, 6
# One place among this many words is broken, so that a long text is as badly written.
PER_ORDER, PER_AGREEMENT = 14, 9
N_DRAWN = 6


def orders(draft: Draft) -> Iterator[Change]:
    """Yield reorderings of a few stretches of words; marks and capitals stay."""
    runs = _runs(draft)
    n = 1 + sum(word.is_word for word in draft.words) // PER_ORDER
    for _ in range(N_DRAWN if runs else 0):
        parts = list[tuple[int, int, str]]()
        for index in draft.rng.permutation(len(runs))[:n]:
            window = _window(draft, runs[int(index)])
            start, end = window[0].start, window[-1].end
            parts.append((start, end, _reorder(draft, window)))
        parts.sort()
        yield _whole(draft, "word-order", parts, REORDERED, 0 if len(parts) >= n else 1)


def _runs(draft: Draft) -> list[list[Word]]:
    runs, run = list[list[Word]](), list[Word]()
    for word in draft.words:
        follows = not run or draft.text[run[-1].end : word.start] == " "
        if not word.is_word or word.first or not follows:
            runs.append(run)
            run = []
        if word.is_word and not word.first:
            run.append(word)
    runs.append(run)
    # Longer stretches are cut, so that several places of one long sentence are broken.
    cut = [r[i : i + 2 * MOST] for r in runs for i in range(0, len(r), 2 * MOST)]
    return [r for r in cut if len(r) >= LEAST]


def _window(draft: Draft, run: Sequence[Word]) -> Sequence[Word]:
    size = int(draft.rng.integers(LEAST, min(MOST, len(run)) + 1))
    size = max(size, min(4, len(run)))
    start = int(draft.rng.integers(0, len(run) - size + 1))
    return run[start : start + size]


def _reorder(draft: Draft, window: Sequence[Word]) -> str:
    texts = [word.text for word in window]
    best, apart = texts, 0
    for _ in range(8):
        order = [int(i) for i in draft.rng.permutation(len(texts))]
        # Neighbors that stay neighbors still read well.
        broken = sum(b != a + 1 for a, b in pairwise(order))
        if broken > apart:
            best, apart = [texts[i] for i in order], broken
    return " ".join(best)


def agreements(draft: Draft) -> Iterator[Change]:
    """Yield changes of words to forms that do not agree; more places in longer texts.

    Examples
    --------
    >>> from quality.test_questions.edits.edit import draft_of
    >>> next(agreements(draft_of("It was too late."))).after
    'were'
    """
    table: dict[str, list[str]] = {}
    for old, new in draft.language.agreement:
        table.setdefault(old, []).append(new)
    places = [word for word in draft.words if word.text.lower() in table]
    n_words = sum(word.is_word for word in draft.words)
    n = 1 + n_words // PER_AGREEMENT
    for _ in range(N_DRAWN if places and n_words >= LEAST else 0):
        parts = list[tuple[int, int, str]]()
        for index in draft.rng.permutation(len(places))[:n]:
            word = places[int(index)]
            forms = table[word.text.lower()]
            new = forms[int(draft.rng.integers(len(forms)))]
            parts.append((word.start, word.end, cased_like(new, word.text)))
        parts.sort()
        tier = 0 if len(parts) >= n else 1 if n - len(parts) == 1 else 3
        yield _whole(draft, "agreement", parts, CHANGED, tier)


def _whole(
    draft: Draft,
    kind: str,
    parts: Sequence[tuple[int, int, str]],
    change: str,
    tier: int,
) -> Change:
    before = " … ".join(draft.text[start:end] for start, end, _ in parts)
    after = " … ".join(new for _, _, new in parts)
    return Change(kind, parts, before, after, change, tier)
