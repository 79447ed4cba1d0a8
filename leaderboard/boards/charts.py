"""Charts of boards: the best score by date, and word-by-word differences of texts."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from typing import Protocol

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.charts import Axis, Estimate, label

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 40, 10, 12, 28
# more dots would overlap
_MOST_DOTS = 400
_DAY = timedelta(days=1)


class Dated(Estimate, Protocol):
    @property
    def at(self) -> datetime: ...
    @property
    def simulated(self) -> bool: ...


def timeline(
    axis: Axis, leads: Sequence[Dated], results: Sequence[Dated], *, description: str
) -> SafeString:
    if not leads:
        return SafeString("")
    # a day longer, so that the last step has a length and one result a span
    span = _Span(leads[0].at, max(result.at for result in results) + _DAY)
    return format_html(
        '<svg class="timeline" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "{}{}{}{}{}</svg>",
        WIDTH,
        HEIGHT,
        description,
        _grid(axis),
        _bands(axis, span, leads),
        _steps(axis, span, leads),
        _dots(axis, span, results[-_MOST_DOTS:]),
        _dates(span),
    )


class _Span:
    def __init__(self, first: datetime, last: datetime) -> None:
        self.first, self.last = first, last

    def x(self, at: datetime) -> float:
        part = (at - self.first) / (self.last - self.first)
        return round(LEFT + part * (WIDTH - LEFT - RIGHT), 1)


def _y(axis: Axis, value: float) -> float:
    part = float(axis.at(value).rstrip("%")) / 100
    return round(TOP + (1 - part) * (HEIGHT - TOP - BOTTOM), 1)


def _grid(axis: Axis) -> SafeString:
    return format_html_join(
        "",
        '<line class="grid-line" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text x="{}" y="{}" text-anchor="end">{}</text>',
        (
            (LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, label(tick))
            for tick, y in ((tick, _y(axis, tick)) for tick in axis.ticks)
        ),
    )


def _ends(span: _Span, leads: Sequence[Dated]) -> Iterable[tuple[Dated, float, float]]:
    for index, lead in enumerate(leads):
        until = leads[index + 1].at if index + 1 < len(leads) else span.last
        yield lead, span.x(lead.at), span.x(until)


def _bands(axis: Axis, span: _Span, leads: Sequence[Dated]) -> SafeString:
    return format_html_join(
        "",
        '<rect class="band{}" x="{}" width="{}" y="{}" height="{}"/>',
        (
            (
                " sim" if lead.simulated else "",
                x,
                round(max(end - x, 1), 1),
                _y(axis, lead.high),
                round(max(_y(axis, lead.low) - _y(axis, lead.high), 1), 1),
            )
            for lead, x, end in _ends(span, leads)
        ),
    )


def _steps(axis: Axis, span: _Span, leads: Sequence[Dated]) -> SafeString:
    path = ""
    for lead, x, end in _ends(span, leads):
        y = _y(axis, lead.mean)
        path += f"{'L' if path else 'M'}{x:g} {y:g}H{end:g}"
    simulated = all(lead.simulated for lead in leads)
    return format_html(
        '<path class="line{}" d="{}"/>', " sim" if simulated else "", path
    )


def _dots(axis: Axis, span: _Span, results: Sequence[Dated]) -> SafeString:
    return format_html_join(
        "",
        '<circle class="dot{}" cx="{}" cy="{}" r="3.5"/>',
        (
            (
                " sim" if result.simulated else "",
                span.x(result.at),
                _y(axis, result.mean),
            )
            for result in results
        ),
    )


def _dates(span: _Span) -> SafeString:
    first, last = f"{span.first:%Y-%m-%d}", f"{span.last - _DAY:%Y-%m-%d}"
    left = format_html('<text x="{}" y="{}">{}</text>', LEFT, HEIGHT - 8, first)
    if first == last:
        return left
    return left + format_html(
        '<text x="{}" y="{}" text-anchor="end">{}</text>',
        WIDTH - RIGHT,
        HEIGHT - 8,
        last,
    )


# Longer texts are shown without differences: comparing takes quadratic time.
MOST_WORDS = 1_200
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def difference(text: str, other: str) -> SafeString | None:
    """Mark words of `text` that `other` lacks; None if that would take too long."""
    own_words, other_words = _WORDS.findall(text), _WORDS.findall(other)
    if max(len(own_words), len(other_words)) > MOST_WORDS:
        return None
    # autojunk would leave out words that are frequent in long texts, such as "the"
    matcher = SequenceMatcher(None, own_words, other_words, autojunk=False)
    parts = []
    for kind, start, end, _, _ in matcher.get_opcodes():
        run = "".join(own_words[start:end])
        if run:
            same = kind == "equal" or not run.strip()
            parts.append(
                format_html("{}", run) if same else format_html("<ins>{}</ins>", run)
            )
    return format_html_join("", "{}", ((part,) for part in parts))
