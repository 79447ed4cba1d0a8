"""Clauses: left out, or taken from other texts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from quality.test_questions.edits.draft import Draft
from quality.test_questions.edits.edit import CHANGED, REMOVED, Change
from quality.test_questions.edits.words import words_of

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
    def opening(self) -> str:
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


def dropped(draft: Draft) -> Iterator[Change]:
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


def taken(draft: Draft) -> Iterator[Change]:
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
        and (clause.opening == other.opening or not draft.language.function_words)
        and other.text[0].isupper() == clause.text[0].isupper()
        and other.text not in draft.text
    )
