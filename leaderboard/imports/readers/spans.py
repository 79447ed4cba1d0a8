"""The places and costs of marked errors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from leaderboard.imports.readers.judgments import Span

#: The cost of an error (Freitag et al., TACL 2021, table 1; "critical" as Appraise).
WEIGHTS: Mapping[str, float] = {
    "neutral": 0.0,
    "undecided": 0.0,
    "minor": 1.0,
    "major": 5.0,
    "critical": 25.0,
}
PUNCTUATION = 0.1
NON_TRANSLATION = 25.0
# Fewer spans are no evidence of how ends are counted.
_ENOUGH = 5


def mqm_score(spans: Iterable[Span], *, major_punctuation: bool = False) -> float:
    """Return the MQM score of one text: the sum of its errors' costs, at most 0.

    With `major_punctuation`, a major error in punctuation costs as much as any other
    major one (Google's weights) instead of as little as a minor one (Appraise's). An
    empty severity costs nothing; an unknown one raises ValueError.
    """
    return -round(sum(_cost(span, major_punctuation) for span in spans), 6) + 0.0


def _cost(span: Span, major_punctuation: bool) -> float:
    category, severity = span.category.lower(), span.severity.lower()
    if category.startswith("non-translation"):
        return NON_TRANSLATION
    if category.startswith("source"):
        return 0.0
    if severity and severity not in WEIGHTS:
        raise ValueError(
            f"the severity {severity[:40]!r} is not known; write {', '.join(WEIGHTS)}"
        )
    weight = WEIGHTS.get(severity, 0.0)
    if "punctuation" in category and weight:
        return weight if major_punctuation and weight > 1 else PUNCTUATION
    return weight


def category_of(value: Any) -> str:
    """Return a category as one string, its levels joined by "/".

    Examples
    --------
    >>> category_of(["Accuracy", "Omission"]), category_of(None)
    ('Accuracy/Omission', '')
    """
    if isinstance(value, list | tuple):
        return "/".join(str(level) for level in value if level)
    return str(value) if value else ""


def severity_of(value: Any) -> str:
    """Return a severity in small letters, "" if it is empty.

    Examples
    --------
    >>> severity_of("Major"), severity_of("undecided"), severity_of(None)
    ('major', 'undecided', '')
    """
    return str(value).strip().lower() if value else ""


def inclusive(marked: Sequence[Mapping[str, Any]]) -> list[Span]:
    """Read spans of Appraise and Pearmut, whose ends are inclusive.

    They have "start_i" and "end_i" (whole numbers, or "missing" for an omission),
    "severity", and "error_type" or "category". Raises ValueError if a place is no
    number or ends before it begins, or if a severity is unknown.

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
        try:
            first, last = int(start), int(end)
        except OverflowError as error:
            raise ValueError("a span without an end") from error
        if first < 0 or last < first:
            raise ValueError(f"a span from {first} to {last}")
        spans.append(Span(first, last + 1, severity, category))
    mqm_score(spans)
    return spans


def fit(pairs: Sequence[tuple[str, list[Span]]]) -> tuple[list[list[Span]], str]:
    """Check places against the texts, and correct systematic shifts.

    Each pair is a text ("" if unknown) and its spans by the layout's rules. Returns the
    corrected spans of each, and notes for a person (or ""). Ends are moved if only then
    they are at ends of words. Places are converted from UTF-16 units (an emoji counts
    2) if only that fits.
    """
    spans = [one for _, one in pairs]
    told = []
    wide = _in_units(pairs)
    if wide is not None:
        spans = wide
        told.append("An emoji counts 2 in the places of spans; put right by the texts.")
    texts = [text if _has_words(text) else "" for text, _ in pairs]
    good = {by: _on_ends(texts, spans, by) for by in (0, -1, 1)}
    n = sum(_on_ends([text], [s], None) for text, s in zip(texts, spans, strict=True))
    best = max(good, key=lambda by: good[by])
    if n >= _ENOUGH and good[best] * 2 > n and good[best] > 1.5 * good[0]:
        spans = [[_moved(span, best) for span in one] for one in spans]
        told.append(
            f"Ends of spans lie {'behind' if best < 0 else 'before'} the ends of words by"
            " one character in the texts: moved there."
        )
    elif n >= _ENOUGH and good[0] * 2 < n:
        told.append(
            f"Only {good[0]:,} of {n:,} spans end where a word does: see whether these are"
            " the texts that were shown."
        )
    return spans, " ".join(told)


def _has_words(text: str) -> bool:
    return text.count(" ") * 15 >= len(text) - 15


def _on_ends(
    texts: Sequence[str], spans: Sequence[Sequence[Span]], by: int | None
) -> int:
    """Count the spans whose end, moved, is a word's; with None, all that have a place."""
    return sum(
        by is None or _is_end(text, span.end + by)
        for text, one in zip(texts, spans, strict=True)
        for span in one
        if text and span.end is not None
    )


def _is_end(text: str, end: int) -> bool:
    if not 0 < end <= len(text) or text[end - 1].isspace():
        return False
    return end == len(text) or not (text[end].isalnum() and text[end - 1].isalnum())


def _moved(span: Span, by: int) -> Span:
    if span.start is None or span.end is None:
        return span
    return replace(span, end=max(span.end + by, span.start))


def _in_units(pairs: Sequence[tuple[str, list[Span]]]) -> list[list[Span]] | None:
    """Convert places from UTF-16 units if texts with emoji fit only so; else None."""
    plain = wide = n = 0
    turned = []
    for text, spans in pairs:
        if not any(letter > "\uffff" for letter in text):
            turned.append(spans)
            continue
        other = [_from_units(text, span) for span in spans]
        plain += sum(_is_word(text, span) for span in spans)
        wide += sum(_is_word(text, span) for span in other)
        n += sum(span.end is not None for span in spans)
        turned.append(other)
    return turned if wide > plain and wide * 2 > n else None


def _is_word(text: str, span: Span) -> bool:
    if span.start is None or span.end is None or not span.start < span.end <= len(text):
        return False
    before = text[span.start - 1 : span.start]
    begins = not text[span.start].isspace() and not before.isalnum()
    return begins and _is_end(text, span.end)


def _from_units(text: str, span: Span) -> Span:
    if span.start is None or span.end is None:
        return span
    units = text.encode("utf-16-le")
    start, end = (
        len(units[: 2 * place].decode("utf-16-le", "ignore"))
        for place in (span.start, span.end)
    )
    return replace(span, start=start, end=end)
