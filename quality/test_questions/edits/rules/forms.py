"""Fluency: words in a wrong order, and words that do not agree."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from quality.test_questions.edits.draft import Draft
from quality.test_questions.edits.edit import CHANGED, REORDERED, Change
from quality.test_questions.edits.words import Word, cased_like

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
            parts.append((start, end, _reordered(draft, window)))
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


def _reordered(draft: Draft, window: Sequence[Word]) -> str:
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
    >>> from quality.test_questions.edits.draft import draft_of
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
