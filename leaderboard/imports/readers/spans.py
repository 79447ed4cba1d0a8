"""Marked errors: where they are, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leaderboard.imports.readers.judgments import Span

#: What a marked error costs (Freitag et al., TACL 2021, table 1; "critical" as Appraise).
WEIGHTS: Mapping[str, float] = {
    "neutral": 0.0,
    "undecided": 0.0,
    "minor": 1.0,
    "major": 5.0,
    "critical": 25.0,
}
PUNCTUATION = 0.1
NON_TRANSLATION = 25.0
# With fewer ends than this that a convention explains, nothing is proved.
_ENOUGH = 5


def mqm_score(spans: Iterable[Span], *, major_punctuation: bool = False) -> float:
    """Add up what the errors of one text cost.

    Parameters
    ----------
    spans : iterable of Span
    major_punctuation : bool
        Whether a major error in punctuation costs as any other major one (Google's
        weights) instead of as little as a minor one (Appraise's).

    Returns
    -------
    float
        At most 0, which is a text without errors. A severity without a weight costs
        nothing.

    Examples
    --------
    >>> mqm_score([Span(0, 4, "major"), Span(5, 6, "minor", "Fluency/Punctuation")])
    -5.1
    """
    return -round(sum(_cost(span, major_punctuation) for span in spans), 6) + 0.0


def _cost(span: Span, major_punctuation: bool) -> float:
    category, severity = span.category.lower(), span.severity.lower()
    if category.startswith("non-translation"):
        return NON_TRANSLATION
    if category.startswith("source"):
        return 0.0
    weight = WEIGHTS.get(severity, 0.0)
    if "punctuation" in category and weight:
        return weight if major_punctuation and weight > 1 else PUNCTUATION
    return weight


def category_of(value: Any) -> str:
    """Write a category in one string, its levels joined by "/".

    Examples
    --------
    >>> category_of(["Accuracy", "Omission"]), category_of(None)
    ('Accuracy/Omission', '')
    """
    if isinstance(value, list | tuple):
        return "/".join(str(level) for level in value if level)
    return str(value) if value else ""


def severity_of(value: Any) -> str:
    """Write a severity in small letters, "" where it was left open.

    Examples
    --------
    >>> severity_of("Major"), severity_of("undecided"), severity_of(None)
    ('major', 'undecided', '')
    """
    return str(value).strip().lower() if value else ""


def inclusive(marked: Sequence[Mapping[str, Any]]) -> list[Span]:
    """Read spans as Appraise and Pearmut write them: the last character counts.

    Parameters
    ----------
    marked : sequence of mapping
        With "start_i" and "end_i" (whole numbers, or "missing" for an omission),
        "severity", and "error_type" or "category".

    Returns
    -------
    list of Span
        The end exclusive.

    Raises
    ------
    ValueError
        Where a place is no number, or ends before it begins.

    Examples
    --------
    >>> inclusive([{"start_i": 4, "end_i": 9, "severity": "major"}])[0].end
    10
    """
    spans = []
    for one in marked:
        severity = severity_of(one.get("severity"))
        category = category_of(one.get("error_type") or one.get("category"))
        start, end = one.get("start_i"), one.get("end_i")
        if start in ("missing", None) or end in ("missing", None):
            spans.append(Span(None, None, severity, category))
            continue
        first, last = int(start), int(end)
        if first < 0 or last < first:
            raise ValueError(f"a span from {first} to {last}")
        spans.append(Span(first, last + 1, severity, category))
    return spans


def on_boundaries(text: str, spans: Iterable[Span]) -> tuple[int, int]:
    """Count the spans that end where a word does.

    Returns
    -------
    (int, int)
        How many do, and how many have a place at all.

    Examples
    --------
    >>> on_boundaries("The soup is cold.", [Span(4, 8), Span(4, 7)])
    (1, 2)
    """
    placed = [span for span in spans if span.end is not None]
    return sum(_is_end(text, span.end or 0) for span in placed), len(placed)


def _is_end(text: str, end: int) -> bool:
    if end > len(text) or end <= 0:
        return False
    return end == len(text) or not (text[end].isalnum() and text[end - 1].isalnum())


def from_utf16(text: str, offset: int) -> int:
    """Turn a browser's offset, where an emoji counts 2, into one of characters.

    Raises
    ------
    ValueError
        Where it lies within an emoji or behind the text.

    Examples
    --------
    >>> from_utf16("😀 ok", 3)
    2
    """
    units = text.encode("utf-16-le")
    if offset * 2 > len(units):
        raise ValueError(f"{offset} lies behind the text")
    return len(units[: offset * 2].decode("utf-16-le"))


def read_offsets(texts: Sequence[tuple[str, list[Span]]]) -> tuple[bool, bool]:
    """Find out how places were counted, as far as the texts prove it.

    Parameters
    ----------
    texts : sequence of (str, list of Span)
        Each text with its spans as the layout says they are.

    Returns
    -------
    utf16 : bool
        Whether an emoji counted 2: only then the ends fall on the ends of words.
    doubtful : bool
        Whether most ends of enough spans lie within words, however they are counted.

    Examples
    --------
    >>> read_offsets([("😀 soup is", [Span(3, 7)])])
    (True, False)
    """
    plain = wide = placed = all_ends = all_placed = 0
    for text, spans in texts:
        good, n = on_boundaries(text, spans)
        all_ends, all_placed = all_ends + good, all_placed + n
        if not any(ord(letter) > 0xFFFF for letter in text):
            continue
        plain, placed = plain + _exact(text, spans), placed + n
        wide += _exact(text, utf16_spans(text, spans) or [])
    utf16 = placed > 0 and wide > plain and wide * 2 > placed
    doubtful = all_placed >= _ENOUGH and all_ends * 2 < all_placed
    return utf16, doubtful and not utf16


def _exact(text: str, spans: Sequence[Span]) -> int:
    """Count the spans that begin and end where words do."""
    return sum(
        _is_end(text, span.end)
        and (span.start == 0 or not text[span.start - 1].isalnum())
        and not text[span.start].isspace()
        for span in spans
        if span.start is not None and span.end is not None and span.start < len(text)
    )


def utf16_spans(text: str, spans: Sequence[Span]) -> list[Span] | None:
    """Turn the places of a browser into characters; None where that cannot be.

    Examples
    --------
    >>> utf16_spans("😀 soup", [Span(3, 7)])
    [Span(start=2, end=6, severity='', category='')]
    """
    try:
        return [
            span
            if span.start is None or span.end is None
            else Span(
                from_utf16(text, span.start),
                from_utf16(text, span.end),
                span.severity,
                span.category,
            )
            for span in spans
        ]
    except ValueError:
        return None
