"""Negations added and removed."""

import re
from collections.abc import Iterator

from quality.test_questions.edits.draft import Draft
from quality.test_questions.edits.edit import CHANGED, REMOVED, Change
from quality.test_questions.edits.words import cased_like


def negations(draft: Draft) -> Iterator[Change]:
    """Yield added or removed negations, by the language's patterns.

    Examples
    --------
    >>> from quality.test_questions.edits.draft import draft_of
    >>> [change.after for change in negations(draft_of("It is late."))]
    ['is not']
    """
    taken = list[tuple[int, int]]()
    for pattern, template in draft.language.remove_negation:
        for match in re.finditer(pattern, draft.text, re.IGNORECASE):
            start, end = match.span()
            # A shorter pattern must not match inside a longer match.
            if not any(a < end and start < b for a, b in taken):
                taken.append((start, end))
                yield _taken_away(draft, match, match.expand(template))
    for pattern, template in draft.language.add_negation:
        for match in re.finditer(pattern, draft.text):
            old, new = match.group(), match.expand(template)
            yield Change(
                "negation", [(*match.span(), cased_like(new, old))], old, new, tier=1
            )


def _taken_away(draft: Draft, match: re.Match[str], new: str) -> Change:
    start, end = match.span()
    old = match.group()
    if new:
        return Change(
            "negation", [(start, end, cased_like(new, old))], old, new, CHANGED, tier=0
        )
    if start and draft.text[start - 1] == " ":
        start -= 1
    return Change("negation", [(start, end, "")], old, "", REMOVED, tier=0)
