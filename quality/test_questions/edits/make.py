"""Make edits of a text by rules of its language, in a seeded order."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise, zip_longest

from quality.test_questions.edits.edit import (
    CHANGED,
    KINDS,
    REMOVED,
    Change,
    Draft,
    Edit,
    cased_like,
    count_doubled,
    draft_of,
    plain,
    words_of,
)
from quality.test_questions.edits.rules.clauses import (
    agreements,
    drop_clauses,
    numbers,
    opposites,
    orders,
    replace_clauses,
    units,
)
from quality.test_questions.edits.rules.things import (
    answers,
    entities,
    exchanged_things,
    roles,
    things,
)


# Negations added and removed.
def negations(draft: Draft) -> Iterator[Change]:
    """Yield added or removed negations, by the language's patterns.

    Examples
    --------
    >>> from quality.test_questions.edits.edit import draft_of
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


RULES: Mapping[str, Sequence[Callable[[Draft], Iterator[Change]]]] = {
    "entity": [entities],
    "number": [numbers],
    "negation": [negations],
    "opposite": [opposites],
    "role": [roles, exchanged_things],
    "unit": [units],
    "thing": [things],
    "clause-swapped": [replace_clauses],
    "answer": [answers],
    "clause-dropped": [drop_clauses],
    "word-order": [orders],
    "agreement": [agreements],
}
# A kind of a later round is offered only after all of the earlier ones: it changes more
# of a text, or makes an odd sentence.
ROUND = {"thing": 1, "clause-swapped": 1, "answer": 2, "clause-dropped": 2}
# these change the length
FREE_LENGTH = frozenset({"answer", "clause-dropped"})
# number of edits of a kind
N_OF_A_KIND = 5
# limit of the change of length, as a share, or in letters for a short text
LONGER, LETTERS = 0.2, 6


def edits_of(
    text: str,
    *,
    language: str,
    source_texts: Sequence[str] = (),
    other_texts: Sequence[str] = (),
    same_input: Sequence[str] = (),
    kinds: Sequence[str] | None = None,
    seed: int,
) -> list[Edit]:
    """Return edits of a real output that make it wrong but keep it plausible.

    Parameters
    ----------
    language : str
        Code of its language; for an unknown one numbers, names and clauses are edited.
    source_texts : sequence of str, optional
        The fields of its input, in any language.
    other_texts : sequence of str, optional
        Outputs and references of other inputs of the task: substitutes are taken from
        them, and no edit may equal one of them.
    same_input : sequence of str, optional
        Right texts for the same input, such as its references: an edit must not bring
        the text closer to one of them, nor use a word that they have.
    seed : int
        The same seed and texts give the same edits.

    Returns
    -------
    list of Edit
        The preferred one first, kinds in turn; empty if none fits.
    """
    draft = draft_of(
        text,
        language,
        source_texts=source_texts,
        other_texts=other_texts,
        same_input=same_input,
        seed=seed,
    )
    taken_texts = {plain(t) for t in chain(source_texts, other_texts, same_input)}
    wanted = sorted(KINDS if kinds is None else kinds, key=list(KINDS).index)
    drawn = [wanted[int(i)] for i in draft.rng.permutation(len(wanted))]
    by_kind = [
        list(islice(_of_kind(draft, kind, taken_texts), N_OF_A_KIND)) for kind in drawn
    ]
    # The sort is stable: within a round the kinds alternate.
    return sorted(_in_turn(by_kind), key=lambda edit: ROUND.get(edit.kind, 0))


def _in_turn(by_kind: Sequence[Sequence[Edit]]) -> list[Edit]:
    rounds = zip_longest(*by_kind)
    return [edit for one_round in rounds for edit in one_round if edit is not None]


def _of_kind(draft: Draft, kind: str, taken_texts: set[str]) -> Iterator[Edit]:
    changes = [change for rule in RULES[kind] for change in rule(draft)]
    order = [changes[int(i)] for i in draft.rng.permutation(len(changes))]
    seen = set[str]()
    for change in sorted(order, key=lambda change: change.tier):
        text = change.apply(draft.text)
        if text in seen or plain(text) in taken_texts or not _fits(draft, kind, text):
            continue
        seen.add(text)
        start = min(start for start, _, _ in change.parts)
        yield Edit(kind, change.before, change.after, text, start, change.change)


def _fits(draft: Draft, kind: str, text: str) -> bool:
    if text == draft.text or (
        plain(text) == plain(draft.text) and kind != "unit"  # signs are not in `plain`
    ):
        return False
    room = max(LETTERS, LONGER * len(draft.text))
    if kind not in FREE_LENGTH and abs(len(text) - len(draft.text)) > room:
        return False
    if (
        count_doubled(words_of(text)) > count_doubled(draft.words)
        or "  " in text.strip()
    ):
        return False
    return not any(
        likeness(text, right) > likeness(draft.text, right) + 1e-9
        for right in draft.same_input
    )


@lru_cache(maxsize=256)
def likeness(one: str, two: str) -> float:
    """Compute the share of common words and word pairs of two texts (F1).

    Examples
    --------
    >>> likeness("a b", "a c"), likeness("A b.", "a b")
    (0.3333333333333333, 1.0)
    """
    first, second = _bag(one), _bag(two)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


@lru_cache(maxsize=256)
def _bag(text: str) -> Counter[tuple[str, ...]]:
    words = plain(text).split()
    return Counter([*((word,) for word in words), *pairwise(words)])
