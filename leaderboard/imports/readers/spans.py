"""The places and costs of marked errors."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from crowd.hit_templates import form
from leaderboard.imports.readers.judgments import Span

#: The cost of an error (Freitag et al., TACL 2021, table 1; "critical" as Appraise).
WEIGHTS = {"": 0.0, "undecided": 0.0, **form.WEIGHTS}
_Marked = Sequence[tuple[str, list[Span]]]
_Change = Callable[[str, int, int], tuple[int, int]]
_BOUND = re.compile(r"\b")
_OFF = "Spans ended one character {} the ends of words: corrected by the texts."


def mqm_score(spans: Iterable[Span], *, google: bool = False) -> float:
    """Return minus the sum of errors' costs; raises ValueError for unknown severities.

    A major error in punctuation costs as much as others by Google's weights only.
    """
    return -round(sum(_cost(span, google) for span in spans), 6) + 0.0


def _cost(span: Span, google: bool) -> float:
    category, severity = span.category.lower(), span.severity.lower()
    if severity not in WEIGHTS:
        known = ", ".join(filter(None, WEIGHTS))
        raise ValueError(f"the severity {severity!r} is not known; write {known}")
    if category.startswith(("non-translation", "source")):
        return 25.0 if category.startswith("non-translation") else 0.0
    weight = WEIGHTS[severity]
    small = "punctuation" in category and weight and not (google and weight > 1)
    return 0.1 if small else weight


def inclusive(marked: Sequence[Mapping[str, Any]], text: str = "") -> list[Span]:
    """Read spans with inclusive ends: "start_i", "end_i", "severity", "error_type".

    The place of an omission is "missing", or after the text. Raises ValueError for a
    place that is no number or ends before it begins, and for an unknown severity.
    """
    spans = []
    for one in marked:
        category = one.get("error_type") or one.get("category") or ""
        if isinstance(category, list):
            category = "/".join(str(level) for level in category if level)
        about = (str(one.get("severity") or "").strip().lower(), str(category))
        places = (one.get("start_i"), one.get("end_i"))
        first, last = (inf if p in ("missing", None) else float(str(p)) for p in places)
        if not 0 <= first <= last:
            raise ValueError(f"a span from {places[0]} to {places[1]}")
        if last == inf or (text and first >= len(text)):
            spans.append(Span(None, None, *about))
        else:
            spans.append(Span(int(first), int(last) + 1, *about))
    mqm_score(spans)
    return spans


def fit(pairs: _Marked) -> tuple[list[list[Span]], str]:
    """Correct shifted places; return the spans of each text ("" if unknown), and notes.

    They are converted from UTF-16 units (an emoji counts 2), and ends moved by one
    character, if most spans then mark whole words.
    """
    told = []
    for change, beyond, least, note in _CHANGES:
        texts = [pair for pair in pairs if max(pair[0], default="") > beyond]
        n = sum(span.end is not None for _, spans in texts for span in spans)
        before, after = _n_of_words(texts), _n_of_words(_change_all(texts, change))
        if n >= least and after * 2 > n and after > 1.5 * before:
            pairs = _change_all(pairs, change)
            told.append(note)
    return [spans for _, spans in pairs], " ".join(told)


def _change_all(pairs: _Marked, change: _Change) -> _Marked:
    def changed(text: str, span: Span) -> Span:
        if span.start is None or span.end is None:
            return span
        start, end = change(text, span.start, span.end)
        return replace(span, start=start, end=end)

    return [(text, [changed(text, span) for span in spans]) for text, spans in pairs]


def _n_of_words(pairs: _Marked) -> int:
    return sum(
        s.end <= len(text)
        and all(_BOUND.match(text, place) for place in (s.start, s.end))
        and text[s.start : s.end] == text[s.start : s.end].strip()
        for text, spans in pairs
        for s in spans
        if s.start is not None and s.end is not None
    )


def _from_units(text: str, *places: int) -> tuple[int, int]:
    units = text.encode("utf-16-le")
    start, end = (len(units[: 2 * n].decode("utf-16-le", "ignore")) for n in places)
    return start, end


# Changes of texts with a character beyond one and with a least number of spans.
_CHANGES: tuple[tuple[_Change, str, int, str], ...] = (
    (_from_units, "\uffff", 1, "An emoji counts 2 in spans' places: converted."),
    (lambda _, start, end: (start, max(start, end - 1)), "", 5, _OFF.format("behind")),
    (lambda _, start, end: (start, end + 1), "", 5, _OFF.format("before")),
)
